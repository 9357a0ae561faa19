/** The loop harness itself: scripts, gates, records, and what is left when a plugin goes. */
import { existsSync } from 'node:fs'
import { afterEach, expect, it, vi } from 'vitest'
import type { Context } from '@deepseek-ai/cordis'
import { BlockAssembler, createUserMessage } from '@deepseek-ai/dsh-llm'
import {
  advise, always, call, calls, cut, empty, fail, gateOf, hang, hold, maxTokens, reasoned, sequence, text, throws, tool,
} from '../support/adapter-replies.ts'
import { createLoop, eventTypes, systemText, toolNames, toolTexts, userTexts } from '../support/loop.ts'
import type { Loop, LoopOptions } from '../support/loop.ts'
import { poll } from '../support/poll.ts'

const loops: Loop[] = []

async function start(options: LoopOptions): Promise<Loop> {
  const loop = await createLoop({ invariants: true, ...options })
  loops.push(loop)
  return loop
}

afterEach(async () => {
  for (const loop of loops.splice(0)) await loop.dispose()
})

function note(value: string) {
  return createUserMessage({ content: [{ type: 'text', text: value }], source: { kind: 'plugin', plugin: 'probe' } })
}

/** A plugin with the advisor's seams: it steers after the first tool result and adds an aside to every later step. */
const probe = {
  name: 'probe',
  inject: ['agents', 'commands'],
  apply(ctx: Context): void {
    ctx.on('session/event', (session, event) => {
      if (event.type !== 'tool/result') return
      queueMicrotask(() => ctx.agents.get(session.id)?.steer(note('steered')))
    })
    ctx.on('agent/pre-step', async ({ step }, next) => {
      const decision = await next()
      if (decision.kind === 'reject' || step === 1) return decision
      return { ...decision, messages: [...decision.messages, note('aside')] }
    })
    ctx.commands.register({
      name: 'probe', description: 'Say it is there.', handler: () => ({ kind: 'success', text: 'here' }),
    })
  },
}

it('runs a turn of two steps with real tools and records both requests', async () => {
  const loop = await start({
    persona: 'You are terse.',
    tools: { read: path => `text of ${path}` },
    script: {
      primary: sequence(
        calls(
          call('read', { file_path: 'a.ts' }),
          call('edit', { file_path: 'a.ts', old_string: 'x', new_string: 'y' }),
          call('bash', { command: 'ls' }),
          call('fails', { message: 'no such thing' }),
        ),
        reasoned('looks fine', 'done'),
      ),
    },
  })
  const agent = await loop.agent()
  await loop.prompt(agent, 'fix it')

  const [first, second] = loop.requests.primary
  expect(userTexts(first!)).toEqual(['fix it'])
  expect(systemText(first!)).toContain('You are terse.')
  expect(toolNames(first!)).toEqual(['bash', 'edit', 'fails', 'read'])
  expect(toolTexts(second!)).toEqual([
    'text of a.ts', 'The file a.ts has been updated successfully.', 'ran: ls', 'Error: no such thing',
  ])
  expect(loop.lastText(agent)).toBe('done')
  const edited = loop.events(agent).filter(event => event.type === 'tool/result')[1]
  expect(edited?.data.meta).toEqual({ diffs: [{ path: 'a.ts', oldText: 'x', newText: 'y' }] })
})

it('holds a reply until its gate is released', async () => {
  const held = hold(text('at last'))
  const loop = await start({ script: { primary: always(held) } })
  const agent = await loop.agent()
  const run = loop.prompt(agent, 'go')
  const request = await gateOf(held).reached
  expect(userTexts(request)).toEqual(['go'])
  await loop.settle()
  expect(agent.status).toBe('running')
  gateOf(held).release()
  await run
  expect(loop.lastText(agent)).toBe('at last')
})

it('holds a reply before its finish, and lets an abort end it', async () => {
  const held = hold(text('half'), { at: 'finish' })
  const loop = await start({ script: { primary: always(held) } })
  const agent = await loop.agent()
  const run = loop.prompt(agent, 'go')
  await gateOf(held).reached
  agent.cancel({ kind: 'user' })
  await run
  expect(await gateOf(held).aborted).toEqual({ kind: 'user' })
  expect(eventTypes(loop.events(agent)).slice(-3)).toEqual(['assistant/message', 'step/end', 'turn/end'])
})

it.each([
  ['an empty response', empty(), 'EMPTY_RESPONSE'],
  ['an empty response without usage', empty(false), 'EMPTY_RESPONSE'],
  ['a scripted failure', fail({ code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 5 }, 'partial'), 'RATE_LIMIT'],
  ['a throw', throws(new Error('boom')), 'UNKNOWN'],
])('ends the turn with the code of %s', async (_name, reply, code) => {
  const loop = await start({ script: { primary: always(reply) } })
  const agent = await loop.agent()
  await loop.prompt(agent, 'go')
  const end = loop.events(agent).findLast(event => event.type === 'turn/end')
  expect(end?.data.reason).toMatchObject({ kind: 'error', error: { code } })
})

it('cuts a stream, which the host takes for a finished one, and runs into the output limit', async () => {
  const loop = await start({ invariants: false, script: { primary: sequence(cut('ha'), maxTokens('long')) } })
  const agent = await loop.agent()
  await loop.prompt(agent, 'one')
  await loop.prompt(agent, 'two')
  const ends = loop.events(agent).filter(event => event.type === 'turn/end').map(event => event.data.reason.kind)
  expect(ends).toEqual(['completed', 'max-tokens'])
})

it('shows the host bug that an abort before the response headers logs no turn end', async () => {
  const loop = await start({ script: { primary: always(hang({ taint: true })) } })
  const agent = await loop.agent()
  const run = loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.primary.length === 1)
  agent.cancel({ kind: 'user' })
  await run
  expect(eventTypes(loop.events(agent)).at(-1)).toBe('step/end')
  expect(agent.status).toBe('idle')
})

it('disposes although a stream hangs and ignores its signal', async () => {
  const loop = await start({ script: { primary: always(hang({ ignoreSignal: true, after: 'so' })) } })
  const agent = await loop.agent()
  void loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.primary.length === 1)
  await loop.dispose()
  await loop.dispose()
  expect(existsSync(loop.home)).toBe(false)
})

it('reports a request that no script expected', async () => {
  const loop = await createLoop({ script: { primary: sequence() } })
  await loop.prompt(await loop.agent(), 'go')
  await expect(loop.dispose()).rejects.toThrow('requests: primary 1')
  expect(loop.adapter.faults[0]?.message).toContain('only 0 replies are scripted')
})

it('answers the reviewer with its own script, efforts and window', async () => {
  const loop = await start({
    models: { reviewer: { efforts: ['low', 'high'], contextWindow: 4000 } },
    script: { primary: always(text('hi')), reviewer: always(advise('look', 'concern', { quote: 'x' })) },
  })
  const info = await loop.ctx.llm.resolveModelInfo('mock', 'reviewer')
  expect(info).toMatchObject({
    context: { contextWindow: 4000 }, reasoning: { efforts: [{ id: 'low' }, { id: 'high' }] },
  })
  const assembler = new BlockAssembler()
  for await (const chunk of loop.ctx.llm.stream({ provider: 'mock', model: 'reviewer', messages: [] })) {
    assembler.push(chunk)
  }
  expect(assembler.blocks()).toEqual([{
    type: 'tool-call', id: 'reviewer-0-0', name: 'advise',
    arguments: '{"note":"look","severity":"concern","evidence":{"quote":"x"}}',
  }])
  expect(loop.requests.reviewer).toHaveLength(1)
  await expect(loop.ctx.llm.resolveModelInfo('mock', 'other')).rejects.toThrow('there is no model "other"')
})

it('lets a plugin steer and add asides, and its disposal leaves no listener and no effect', async () => {
  const loop = await start({
    commands: true,
    script: { primary: sequence(tool('read', { file_path: 'a' }), text('one'), text('two')) },
  })
  const before = loop.listeners()
  const fiber = await loop.mount(probe)
  expect(loop.listeners(fiber)).toEqual({
    events: { 'session/event': 1, 'agent/pre-step': 1 },
    effects: { 'ctx.on("session/event")': 1, 'ctx.on("agent/pre-step")': 1, 'commands.register()': 1 },
  })
  const agent = await loop.agent()
  expect(await loop.command(agent, '/probe now')).toEqual({ kind: 'success', text: 'here' })
  await loop.prompt(agent, 'go')
  expect(userTexts(loop.requests.primary[1]!)).toEqual(['go', 'steered', 'aside'])

  await loop.close(agent)
  await fiber.dispose()
  await fiber.dispose()
  expect(loop.listeners()).toEqual(before)
  expect(await loop.command(await loop.agent(), '/probe')).toBeUndefined()
})

it('sees a listener that a plugin left on the root', async () => {
  const loop = await start({ script: { primary: always(text('hi')) } })
  const before = loop.listeners()
  const fiber = await loop.mount((ctx: Context) => void ctx.root.on('session/event', () => {}))
  await fiber.dispose()
  const events = { ...before.events, 'session/event': (before.events['session/event'] ?? 0) + 1 }
  expect(loop.listeners().events).toEqual(events)
})

it('says which service a plugin waits for', async () => {
  const loop = await start({ script: { primary: always(text('hi')) } })
  await expect(loop.mount(probe)).rejects.toThrow('missing services: commands')
})

it('keeps what the host says, and polls on when a test fakes the timers', async () => {
  const loop = await start({ script: { primary: always(text('hi')) } })
  vi.useFakeTimers()
  try {
    loop.ctx.on('session/event', () => { throw new Error('a listener broke') })
    await loop.prompt(await loop.agent(), 'go')
    await loop.settle()
    expect(await loop.until(() => loop.logs.find(line => line.text.includes('a listener broke')))).toBeDefined()
    await expect(poll(() => false, () => loop.describe(), 3)).rejects.toThrow('agent s1: idle; last events: ')
  } finally {
    vi.useRealTimers()
  }
})
