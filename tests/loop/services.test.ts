/** The host services that a loop mounts on request: each does here what it does in the host. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { CallId } from '@deepseek-ai/dsh-llm'
import { settingsNamespace } from '@deepseek-ai/dsh-settings'
import SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import * as ToolFs from '@deepseek-ai/dsh-tool-fs'
import * as ToolFsSearch from '@deepseek-ai/dsh-tool-fs-search'
import ToolRuntime from '@deepseek-ai/dsh-tools'
import z from '@deepseek-ai/schemastery'
import { always, fail, sequence, text, tool } from '../support/adapter-replies.ts'
import { createLoop, eventTypes, systemText, userTexts } from '../support/loop.ts'
import type { Loop, LoopOptions } from '../support/loop.ts'

const loops: Loop[] = []

async function start(options: LoopOptions): Promise<Loop> {
  const loop = await createLoop({ invariants: true, ...options })
  loops.push(loop)
  return loop
}

afterEach(async () => {
  for (const loop of loops.splice(0)) await loop.dispose()
})

it('compacts for real: the log keeps everything, the surface starts with a checkpoint', async () => {
  const loop = await start({ compaction: true, script: { primary: always(text('a long answer '.repeat(200))) } })
  const agent = await loop.agent()
  await loop.prompt(agent, 'one')
  await loop.prompt(agent, 'two')
  const result = await loop.ctx.compaction.compactNow(agent, new AbortController().signal)
  expect(result?.shadowedSeqs.length).toBe(3)
  const events = loop.events(agent)
  expect(eventTypes(events).slice(-4)).toEqual([
    'compaction/start', 'compaction/summary', 'user/message', 'compaction/end',
  ])
  const checkpoint = events.findLast(event => event.type === 'user/message')
  expect(checkpoint?.surfaceOp).toMatchObject({ op: 'replace' })
  expect(loop.requests.compaction).toHaveLength(1)
})

it('compacts between the steps of a turn, and leaves a start and an end also when it gives up', async () => {
  const loop = await start({
    compaction: { thresholdRatio: 0.5, retainTokens: 20 },
    models: { primary: { contextWindow: 2000 } },
    tools: { read: () => 'x '.repeat(3000) },
    script: { primary: sequence(tool('read', { file_path: 'a' }), tool('read', { file_path: 'b' }), text('done')) },
  })
  const agent = await loop.agent()
  await loop.prompt(agent, 'go')
  const steps = eventTypes(loop.events(agent)).filter(type => /compaction|step/.test(type))
  expect(steps).toEqual([
    'step/start', 'step/end',
    'compaction/start', 'compaction/end',
    'step/start', 'step/end',
    'compaction/start', 'compaction/summary', 'compaction/end', 'compaction/start', 'compaction/end',
    'step/start', 'step/end',
  ])
})

it('resumes a session from disk, in the same host and in the next one', async () => {
  const home = await mkdtemp(join(tmpdir(), 'advisor-kept-'))
  const options = { home, persistence: true, script: { primary: always(text('hi')) } }
  const loop = await start(options)
  await loop.prompt(await loop.agent({ id: 'kept' }), 'one')
  await loop.prompt(await loop.resume('kept'), 'two')
  expect(userTexts(loop.requests.primary[1]!)).toEqual(['one', 'two'])
  await loop.dispose()

  const next = await start(options)
  const agent = await next.resume('kept')
  await next.prompt(agent, 'three')
  expect(userTexts(next.requests.primary[0]!)).toEqual(['one', 'two', 'three'])
  expect(eventTypes(next.events(agent)).filter(type => type === 'session/end-seed')).toHaveLength(2)
  await next.dispose()
  await rm(home, { recursive: true })
})

it('forks a session at a turn, without the later ones', async () => {
  const loop = await start({ persistence: true, script: { primary: always(text('hi')) } })
  const agent = await loop.agent()
  await loop.prompt(agent, 'one')
  await loop.prompt(agent, 'two')
  const child = await loop.fork(agent.session, 0)
  expect(child.session.header).toMatchObject({ parentSession: agent.id, seedLength: child.session.firstLiveSeq })
  await loop.prompt(child, 'other')
  expect(userTexts(loop.requests.primary[2]!)).toEqual(['one', 'other'])
})

it('switches plan mode and shows its rules to the model', async () => {
  const loop = await start({ commands: true, planMode: 'Only plan.', script: { primary: always(text('hi')) } })
  const agent = await loop.agent()
  expect(await loop.command(agent, '/plan')).toMatchObject({ kind: 'success' })
  await loop.prompt(agent, 'go')
  expect(systemText(loop.requests.primary[0]!)).toContain('Only plan.')
  expect(eventTypes(loop.events(agent))).toContain('plan/mode')
})

it('keeps settings in a file, and passes on what is written there', async () => {
  const loop = await start({
    settings: { yaml: 'probe:\n  level: 2\n', watch: true }, script: { primary: always(text('hi')) },
  })
  const path = join(loop.home, 'settings.yaml')
  const schema = z.object({ level: z.number().default(1) })
  const scope = loop.ctx.settings.register(settingsNamespace('probe'), schema)
  expect(scope.get()).toEqual({ level: 2 })
  await scope.update({ level: 3 })
  expect(await readFile(path, 'utf8')).toContain('level: 3')
  await writeFile(path, 'probe:\n  level: 4\n')
  await loop.until(() => scope.get().level === 4)
})

it('gives the host\'s own file tools a place to work in', async () => {
  const loop = await start({ fs: true, tools: false, script: { primary: always(text('hi')) } })
  await writeFile(join(loop.cwd, 'a.txt'), 'needle\n')
  const own = loop.ctx.isolate('tools').isolate('systemPrompt')
  await own.plugin(SystemPrompt, {})
  await own.plugin(ToolRuntime, {})
  await own.plugin(ToolFs)
  await own.plugin(ToolFsSearch, { sampleOverCapGlobResults: true })
  expect(own.tools.schemas().map(schema => schema.name)).toEqual(['read', 'write', 'edit', 'glob', 'grep'])
  const result = await own.tools.execute({
    callId: CallId('c1'), name: 'grep', arguments: { pattern: 'needle', path: loop.cwd },
    signal: new AbortController().signal,
  })
  expect(result.isError).toBe(false)
  expect(loop.ctx.tools.schemas()).toEqual([])
})

it('retries a failed step of the primary when asked to', async () => {
  const loop = await start({
    retry: true,
    retryPolicy: {
      mode: 'normal', maxRetries: 1, retryableCodes: ['SERVER'], initialDelayMs: 0, maxDelayMs: 0, jitterRatio: 0,
    },
    script: { primary: sequence(fail({ code: 'SERVER', status: 500 }), text('well')) },
  })
  const agent = await loop.agent()
  await loop.prompt(agent, 'go')
  expect(loop.lastText(agent)).toBe('well')
})

it('lets the host\'s own checks refuse a broken log', async () => {
  const loop = await start({ script: { primary: always(text('hi')) } })
  const agent = await loop.agent()
  expect(() => agent.session.append('step/end', { turn: 9, step: 9 })).toThrow('invariant violated')
})

it('marks a subagent as one', async () => {
  const loop = await start({ script: { primary: always(text('hi')) } })
  const parent = await loop.agent()
  const child = await loop.agent({ parent })
  await loop.prompt(child, 'go')
  expect(child.session.header).toMatchObject({ origin: 'subagent', delegationDepth: 1, parentSession: parent.id })
  expect(loop.ctx.agents.roots()).toEqual([parent])
})
