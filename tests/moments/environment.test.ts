/** The environment variable on a running host: it lies over the configuration, for this process, and writes nothing. */
import { expect, onTestFinished, test } from 'vitest'
import { settingsNamespace } from '@deepseek-ai/dsh-settings'
import * as advisor from '../../src/index.ts'
import { text } from '../support/adapter-replies.ts'
import { PROVIDER } from '../support/loop.ts'
import { readStatus, startLoop } from '../support/loop-advised.ts'
import type { Loop } from '../support/loop.ts'

const KEY = 'DSH_ADVISOR'

function setEnvironment(value: string): void {
  const before = process.env[KEY]
  process.env[KEY] = value
  onTestFinished(() => {
    if (before === undefined) delete process.env[KEY]
    else process.env[KEY] = before
  })
}

async function start(row: object): Promise<Loop> {
  const loop = await startLoop({
    settings: true, models: { other: { efforts: ['low', 'high'] } },
    script: { primary: () => text('done'), reviewer: () => text('ok'), other: () => text('ok') },
  })
  await loop.mount(advisor, row)
  return loop
}

const MODEL = { provider: PROVIDER, model: 'reviewer' }

test.each<[string, object, 'reviewer' | 'other' | undefined, string]>([
  ['on', MODEL, 'reviewer', 'running'],
  ['on', {}, undefined, 'disabled (no model: set `provider` and `model`)'],
  ['off', { ...MODEL, enabled: true }, undefined, 'off (`enabled` is false)'],
  ['', MODEL, undefined, 'off (`enabled` is false)'],
  ['', { ...MODEL, enabled: true }, 'reviewer', 'running'],
  [`${PROVIDER}/other`, {}, 'other', 'running'],
  [`${PROVIDER}/other`, { ...MODEL, enabled: true }, 'other', 'running'],
  [`${PROVIDER}/other:high`, {}, 'other', 'running'],
])('with %j over %j the model asked is %s', async (value, row, model, state) => {
  setEnvironment(value)
  const loop = await start(row)
  const agent = await loop.agent()
  await loop.prompt(agent, 'go')
  await loop.settle()
  const asked = (['reviewer', 'other'] as const).filter(name => (loop.requests[name] ?? []).length > 0)
  expect(asked).toEqual(model === undefined ? [] : [model])
  expect(readStatus((await loop.command(agent, '/advisor status'))?.text ?? '').Advisor).toBe(state)
  expect(loop.lastText(agent)).toBe('done')
  if (value.endsWith(':high')) expect(loop.requests.other?.[0]?.reasoningEffort).toBe('high')
  expect(loop.ctx.settings.get(settingsNamespace('advisor'))).toMatchObject({ enabled: (row as { enabled?: boolean }).enabled ?? false })
})

test.each(['yes please', 'mock', 'mock/', '/reviewer'])('%j asks no model, names itself as the reason, and leaves the host at work', async (value) => {
  setEnvironment(value)
  const loop = await start({ ...MODEL, enabled: true })
  const agent = await loop.agent()
  await loop.prompt(agent, 'go')
  await loop.settle()
  expect(loop.requests.reviewer).toHaveLength(0)
  const { Advisor } = readStatus((await loop.command(agent, '/advisor status'))?.text ?? '')
  expect(Advisor).toMatch(/^disabled /)
  expect(Advisor).toContain(KEY)
  expect(Advisor).toContain(value)
  expect(loop.lastText(agent)).toBe('done')
})

test('a session\'s own wish stands above it', async () => {
  setEnvironment('off')
  const loop = await start({ ...MODEL, enabled: true })
  const agent = await loop.agent()
  await loop.command(agent, '/advisor on')
  await loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.reviewer.length === 1)
})

test('it stands above a change of the settings while the host runs', async () => {
  setEnvironment(`${PROVIDER}/other`)
  const loop = await start({})
  const agent = await loop.agent()
  await loop.ctx.settings.update(settingsNamespace('advisor'), { ...MODEL, enabled: false } as never)
  await loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.other?.length === 1)
  expect(loop.requests.reviewer).toHaveLength(0)
})
