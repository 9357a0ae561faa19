/** Several advisors on the real loop, each with a model of its own in the hand of the test. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import { text } from './adapter-replies.ts'
import type { Reply } from './adapter-replies.ts'
import { PROVIDER } from './loop.ts'
import type { Loop } from './loop.ts'
import type { Scripts } from './scripted-adapter.ts'
import { Hand, startScene } from './loop-advised.ts'
import type { Scene, SceneOptions } from './loop-advised.ts'

/** One entry of a roster, as YAML; without keys its model is one of the same name in lower case. */
export function entry(name: string, keys: object = {}): string {
  const all = { model: `${PROVIDER}/${name.toLowerCase()}`, ...keys }
  return [`  - name: ${name}`, ...Object.entries(all).map(([key, value]) => `    ${key}: ${JSON.stringify(value)}`)].join('\n')
}

/** A whole file. */
export function roster(...entries: string[]): string {
  return `advisors:\n${entries.join('\n')}\n`
}

/** A session with a roster: a scene whose reviewers are named. */
export class Round {
  readonly scene: Scene
  readonly hands: Readonly<Record<string, Hand>>

  constructor(scene: Scene, hands: Readonly<Record<string, Hand>>) {
    this.scene = scene
    this.hands = hands
  }

  get agent(): Agent {
    return this.scene.agent
  }

  get loop(): Loop {
    return this.scene.loop
  }

  /** Requests of one advisor so far. */
  reviews(name: string): readonly GenerateOptions[] {
    return this.loop.requests[name.toLowerCase()] ?? []
  }

  /** Give one advisor's review its reply, and let everything that follows from it happen. */
  async review(name: string, index: number, reply: Reply = text('ok')): Promise<GenerateOptions> {
    const request = await this.hand(name).asked(index)
    this.hand(name).answer(index, reply)
    await this.loop.settle()
    return request
  }

  hand(name: string): Hand {
    const hand = this.hands[name.toLowerCase()]
    if (hand === undefined) throw new Error(`no advisor "${name}" was set up`)
    return hand
  }

  /** Save the user's own roster, as an editor does. */
  async edit(yaml: string): Promise<void> {
    await writeFile(join(this.loop.home, 'WATCHDOG.yml'), yaml)
  }

  /** The line of the status on one advisor. */
  async line(name: string): Promise<string> {
    const status = await this.scene.advisor('status')
    return status.split('\n').find(line => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? ''
  }
}

/** A host with the user's roster in its home, and hands for the models of these advisors. */
export async function startRound(names: readonly string[], yaml: string, options: SceneOptions = {}): Promise<Round> {
  const hands = Object.fromEntries(names.map(name => [name.toLowerCase(), new Hand()]))
  const scripts = Object.fromEntries(Object.entries(hands).map(([name, hand]) => [name, hand.script]))
  const scene = await startScene({
    ...options,
    // A scene has hands of its own for the primary and for an advisor without a name.
    script: { ...scripts, ...options.script } as Scripts,
    prepare: loop => writeFile(join(loop.home, 'WATCHDOG.yml'), yaml),
  })
  return new Round(scene, hands)
}
