/** The layers of configuration on a running host: the row, the user's settings.yaml, and a session's own wish. */
import { writeFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Context, Fiber } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import { settingsNamespace } from '@deepseek-ai/dsh-settings'
import z from '@deepseek-ai/schemastery'
import * as advisor from '../../src/index.ts'
import { advise, sequence, text, tool } from '../support/adapter-replies.ts'
import type { Loop, LoopOptions } from '../support/loop.ts'
import { systemText } from '../support/loop.ts'
import { notes, readStatus, REVIEWER, startLoop, startScene } from '../support/loop-advised.ts'
import type { Status } from '../support/loop-advised.ts'

const SECTION = settingsNamespace('advisor')

async function start(options: Partial<LoopOptions>, row: object = {}): Promise<{ loop: Loop, agent: Agent, fiber: Fiber }> {
  const loop = await startLoop({
    script: { primary: () => text('done'), reviewer: () => text('ok'), other: () => text('ok') }, ...options,
  })
  const fiber = await loop.mount(advisor, row)
  return { loop, fiber, agent: await loop.agent() }
}

async function status(loop: Loop, agent: Agent): Promise<Status> {
  return readStatus((await loop.command(agent, '/advisor status'))?.text ?? '')
}

/** What the settings service holds of the section. */
function stored(loop: Loop): { readonly enabled?: boolean, readonly model?: string } {
  return loop.ctx.settings.get(SECTION) ?? {}
}

/** Rewrite settings.yaml from outside, as an editor does. */
function edit(loop: Loop, yaml: string): Promise<void> {
  return writeFile(join(loop.home, 'settings.yaml'), yaml)
}

const yaml = (model: string): string => `advisor:\n  enabled: true\n  provider: mock\n  model: ${model}\n`

test.each([
  ['neither provider nor model', {}, 'set `provider` and `model`'],
  ['no model', { provider: 'mock' }, 'set `model`'],
  ['no provider', { model: 'reviewer' }, 'set `provider`'],
  ['blank names', { provider: ' ', model: '\t' }, 'set `provider` and `model`'],
])('enabled with %s never calls a model, and the status says what is missing', async (_name, keys, reason) => {
  const { loop, agent } = await start({}, { enabled: true, ...keys })
  await loop.prompt(agent, 'go')
  await loop.command(agent, '/advisor on')
  await loop.prompt(agent, 'go on')
  await loop.settle()
  expect(loop.requests.reviewer).toHaveLength(0)
  expect((await status(loop, agent)).Advisor).toContain(reason)
  expect((await status(loop, agent)).Advisor).toMatch(/^disabled /)
  expect(loop.lastText(agent)).toBe('done')
})

test('the row alone is enough, without a settings service and without commands', async () => {
  const { loop, agent } = await start({ commands: false }, REVIEWER)
  await loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.reviewer.length === 1)
  expect(loop.lastText(agent)).toBe('done')
})

test('the user\'s section alone switches it on, with nothing in the row', async () => {
  const { loop, agent } = await start({ settings: { yaml: yaml('reviewer') } })
  await loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.reviewer.length === 1)
})

test('the user\'s section lies above the row, key by key', async () => {
  const { loop, agent } = await start(
    { settings: { yaml: 'advisor:\n  model: other\n' } }, { ...REVIEWER, systemPrompt: 'Only spelling.' },
  )
  await loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.other?.length === 1)
  expect(systemText(loop.requests.other![0]!)).toMatch(/^Only spelling\.\n\n/)
  expect(loop.requests.reviewer).toHaveLength(0)
  expect((await status(loop, agent)).Model).toBe('mock/other, effort low')
})

test('an edit of settings.yaml counts at once: another model, then off, then on again', async () => {
  const { loop, agent } = await start({ settings: { yaml: yaml('reviewer'), watch: true } })
  await loop.prompt(agent, 'one')
  await loop.until(() => loop.requests.reviewer.length === 1)

  await edit(loop, yaml('other'))
  await loop.until(() => stored(loop).model === 'other')
  await loop.settle()
  await loop.prompt(agent, 'two')
  await loop.until(() => loop.requests.other?.length === 1)

  await edit(loop, yaml('other').replace('true', 'false'))
  await loop.until(() => stored(loop).enabled === false)
  await loop.settle()
  await loop.prompt(agent, 'three')
  await loop.settle()
  expect((await status(loop, agent)).Advisor).toMatch(/^off /)

  await edit(loop, yaml('reviewer'))
  await loop.until(() => stored(loop).enabled === true)
  await loop.settle()
  await loop.prompt(agent, 'four')
  await loop.until(() => loop.requests.reviewer.length === 2)
  expect(loop.requests.other).toHaveLength(1)
})

test('a change through the settings service reaches the review that comes next', async () => {
  const { loop, agent } = await start({ settings: true }, REVIEWER)
  await loop.ctx.settings.update(SECTION, { notesPerUpdate: 2 })
  await loop.settle()
  await loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.reviewer.length === 1)
  expect(systemText(loop.requests.reviewer[0]!)).toContain('at most 2 an update')
})

test.each([
  ['an unknown key', { tempo: 'high' }, /tempo/],
  ['a value out of range', { reopen: 6 }, /reopen|<= 5/],
  ['a value of the wrong type', { enabled: 'yes' }, /enabled|boolean/],
])('a write with %s is refused by name, and nothing changes', async (_name, patch, message) => {
  const { loop, agent } = await start({ settings: { yaml: '# mine\n' } }, REVIEWER)
  await expect(loop.ctx.settings.update(SECTION, patch)).rejects.toThrow(message)
  expect(await readFile(join(loop.home, 'settings.yaml'), 'utf8')).toBe('# mine\n')
  await loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.reviewer.length === 1)
})

test.each([
  ['an unknown key', 'tempo: high', 'tempo'],
  ['a value out of range', 'reviewEvery: 0', 'reviewEvery'],
  ['a value of the wrong type', 'maxSeverity: critical', 'maxSeverity'],
])('a user section with %s disables the advisor with a reason that names the key, and nothing else', async (_name, line, key) => {
  const { loop, agent } = await start({ settings: { yaml: `${yaml('reviewer')}  ${line}\n`, watch: true } }, REVIEWER)
  await loop.prompt(agent, 'go')
  await loop.settle()
  expect(loop.lastText(agent)).toBe('done')
  expect(loop.requests.reviewer).toHaveLength(0)
  const { Advisor } = await status(loop, agent)
  expect(Advisor).toMatch(/^disabled /)
  expect(Advisor).toContain('settings.yaml')
  expect(Advisor).toContain(key)

  await loop.command(agent, '/advisor on')
  await loop.prompt(agent, 'go on')
  await loop.settle()
  expect(loop.requests.reviewer).toHaveLength(0)

  await edit(loop, yaml('other'))
  await loop.until(() => stored(loop).model === 'other')
  await loop.settle()
  await loop.prompt(agent, 'again')
  await loop.until(() => loop.requests.other?.length === 1)
  expect((await status(loop, agent)).Advisor).toBe('running')
  await expect(loop.ctx.settings.update(SECTION, { tempo: 'high' })).rejects.toThrow(/tempo/)
})

test.each(['loud', '[1, 2]'])('a user section that is no mapping (%s) disables the advisor too, with a reason', async (value) => {
  const { loop, agent } = await start({ settings: { yaml: `advisor: ${value}\n`, watch: true } }, REVIEWER)
  await loop.prompt(agent, 'go')
  await loop.settle()
  expect(loop.lastText(agent)).toBe('done')
  expect(loop.requests.reviewer).toHaveLength(0)
  expect((await status(loop, agent)).Advisor).toMatch(/^disabled .*settings\.yaml/)
})

test('a section that breaks while the host runs leaves the last good one at work', async () => {
  const { loop, agent } = await start({ settings: { yaml: yaml('reviewer'), watch: true } })
  await edit(loop, `${yaml('reviewer')}  tempo: high\n`)
  await loop.until(() => loop.logs.some(line => line.text.includes('tempo')))
  await loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.reviewer.length === 1)
})

test('where another plugin owns the settings namespace the row still counts, and the host\'s log says why', async () => {
  const loop = await startLoop({ settings: true, script: { primary: () => text('done'), reviewer: () => text('ok') } })
  await loop.mount({
    name: 'rival', inject: ['settings'],
    apply: (ctx: Context) => void ctx.settings.register(SECTION, z.object({ mode: z.string() })),
  })
  await loop.mount(advisor, REVIEWER)
  await loop.prompt(await loop.agent(), 'go')
  await loop.until(() => loop.requests.reviewer.length === 1)
  expect(loop.logs.some(line => line.type === 'warn' && line.text.includes('namespace "advisor"'))).toBe(true)
})

test('where another plugin owns the command the advisor still reviews, and the host\'s log says why', async () => {
  const loop = await startLoop({ script: { primary: () => text('done'), reviewer: () => text('ok') } })
  await loop.mount({
    name: 'rival', inject: ['commands'],
    apply: (ctx: Context) => void ctx.commands.register({
      name: 'advisor', description: 'Another one.', handler: () => ({ kind: 'success', text: 'another' }),
    }),
  })
  await loop.mount(advisor, REVIEWER)
  const agent = await loop.agent()
  await loop.prompt(agent, 'go')
  await loop.until(() => loop.requests.reviewer.length === 1)
  expect(await loop.command(agent, '/advisor')).toMatchObject({ text: 'another' })
  expect(loop.logs.some(line => line.type === 'warn' && line.text.includes('/advisor'))).toBe(true)
})

test.each([
  ['the model advertises it', ['low', 'high'], 'high', 'high'],
  ['the model does not know it', ['off', 'max'], 'high', undefined],
  ['the model takes none', undefined, 'low', undefined],
])('the effort is sent only if %s', async (_name, efforts, effort, sent) => {
  const scene = await startScene({
    config: { effort }, primary: () => text('done'), reviewer: () => text('ok'),
    models: { reviewer: efforts === undefined ? {} : { efforts } },
  })
  await scene.prompt('go')
  await scene.loop.until(() => scene.reviews.length === 1)
  expect(scene.reviews[0]!.reasoningEffort).toBe(sent)
})

test('a reviewer that changes its model in mid-session starts over with the task, and its notes still count', async () => {
  const scene = await startScene({
    settings: true, config: { immuneTurns: 0 },
    script: { primary: () => text('done'), other: sequence(text('ok'), text('ok')) },
  })
  const run = scene.prompt('Read b.txt')
  await scene.step(0, tool('bash', { command: 'ls' }))
  await scene.review(0, advise('Wrong file.', 'concern'))
  await scene.loop.ctx.settings.update(SECTION, { model: 'other' })
  await scene.loop.settle()
  expect(notes(await scene.step(1))).toEqual(['concern: Wrong file.'])
  await scene.loop.until(() => scene.loop.requests.other?.length === 1)
  const request = JSON.stringify(scene.loop.requests.other![0]!.messages)
  expect(request).toContain('Read b.txt')
  expect(request).toContain('Notes you gave before:')
  expect(request).toContain('Wrong file.')
  scene.primary.answer(2, text('done'))
  await run
})
