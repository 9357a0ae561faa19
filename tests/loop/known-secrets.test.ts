/** What the host's own credentials store holds is secret, whatever it looks like. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import type { Context } from '@deepseek-ai/cordis'
import { CredentialProvider, credentialRef } from '@deepseek-ai/dsh-credentials'
import LocalCredentialProvider from '@deepseek-ai/dsh-credentials-local'
import { settingsNamespace } from '@deepseek-ai/dsh-settings'
import z from '@deepseek-ai/schemastery'
import { knownSecrets, rememberedSecrets } from '../../src/redact/known.ts'
import { Redactor } from '../../src/redact/redactor.ts'
import { text } from '../support/adapter-replies.ts'
import { createLoop } from '../support/loop.ts'
import type { Loop, LoopOptions } from '../support/loop.ts'
import { settle } from '../support/poll.ts'
import { HandClock } from '../unit/support/clock.ts'

afterEach(() => void vi.unstubAllEnvs())

async function startLoop(options: Partial<LoopOptions>): Promise<Loop> {
  const loop = await createLoop({ invariants: true, script: { primary: () => text('done') }, ...options })
  onTestFinished(() => loop.dispose())
  return loop
}

/** The host's local store on a file of its own. */
async function startStore(loop: Loop, yaml: string): Promise<void> {
  await writeFile(join(loop.home, '.credentials.yaml'), yaml, { mode: 0o600 })
  await loop.mount(LocalCredentialProvider, { watch: false })
}

it('reads what the store holds, by the names in its file', async () => {
  const loop = await startLoop({})
  await startStore(loop, 'ACME_LOGIN: plain words here\nOTHER: second-value\n')
  expect(await knownSecrets(loop.ctx)).toEqual(expect.arrayContaining(['plain words here', 'second-value']))
  const redactor = new Redactor({ patterns: [], known: await knownSecrets(loop.ctx) })
  expect(redactor.text('it says plain words here')).toBe('it says [secret 1: stored-credential]')
})

it('reads what the store has under a name that only settings know', async () => {
  vi.stubEnv('ACME_LOGIN', 'known by reference')
  const loop = await startLoop({ settings: true })
  await startStore(loop, '')
  expect(await knownSecrets(loop.ctx)).not.toContain('known by reference')
  loop.ctx.settings.register(settingsNamespace('acme'), z.object({ routes: z.array(z.object({ apiKeyEnv: z.string() })) }), {
    base: { routes: [{ apiKeyEnv: 'ACME_LOGIN' }] },
  })
  expect(await knownSecrets(loop.ctx)).toContain('known by reference')
})

it('takes the values of the environment under telling names, without a store too, and no paths', async () => {
  vi.stubEnv('DEPLOY_TOKEN', 'k4mq-9zt2-x7')
  vi.stubEnv('PWD', '/tmp/a7Kx2/work')
  vi.stubEnv('SSL_PRIVATE_KEY', '/etc/ssl/private/server.key')
  vi.stubEnv('USE_TOKEN', 'disabled')
  const loop = await startLoop({})
  const known = await knownSecrets(loop.ctx)
  expect(known).toContain('k4mq-9zt2-x7')
  for (const value of ['/tmp/a7Kx2/work', '/etc/ssl/private/server.key', 'disabled']) expect(known).not.toContain(value)
})

it('learns of a changed value, and of a store that comes later', async () => {
  const loop = await startLoop({})
  const secrets = rememberedSecrets(loop.ctx)
  expect(await secrets()).not.toContain('first value')
  await startStore(loop, 'ACME_LOGIN: first value\n')
  expect(await secrets()).toContain('first value')
  await loop.ctx.credentials.set(credentialRef('ACME_LOGIN'), 'second value')
  expect(await secrets()).toContain('second value')
})

it('does without a file that cannot be read', async () => {
  const loop = await startLoop({})
  await startStore(loop, 'ACME_LOGIN: first value\n')
  await writeFile(join(loop.home, '.credentials.yaml'), ': [', { mode: 0o600 })
  await expect(knownSecrets(loop.ctx)).resolves.toBeInstanceOf(Array)
})

/** A store that answers for one name, fails for another, and for the rest never. */
class SlowStore extends CredentialProvider {
  static readonly inject: string[] = []

  constructor(ctx: Context) {
    super(ctx)
  }

  resolve(ref: string): Promise<{ value: string, source: string } | undefined> {
    if (ref === 'FAILS') return Promise.reject(new Error('locked'))
    return ref === 'ANSWERS' ? Promise.resolve({ value: 'an answer in time', source: 'slow' }) : new Promise(() => {})
  }

  describe(): Promise<{ configured: boolean, writable: boolean }> {
    return Promise.resolve({ configured: true, writable: false })
  }

  async set(): Promise<void> {}
  async unset(): Promise<void> {}
}

it('waits two seconds for a store that does not answer, and takes what it has', async () => {
  const loop = await startLoop({})
  await writeFile(join(loop.home, '.credentials.yaml'), 'FAILS: x\nHANGS: x\nANSWERS: x\n', { mode: 0o600 })
  await loop.mount(SlowStore)
  const clock = new HandClock()
  let known: readonly string[] | undefined
  void knownSecrets(loop.ctx, clock).then((values) => { known = values })
  await loop.until(() => clock.pending.length === 1, 'the wait')
  await settle()
  expect(known).toBeUndefined()
  await clock.advance(2_000)
  await loop.until(() => known !== undefined, 'the values')
  expect(known).toContain('an answer in time')
})
