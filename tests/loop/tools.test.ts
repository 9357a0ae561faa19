/** The reviewer's tools over the host's own packages: a real registry, a real disk, real child processes. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import * as AgentInstructions from '@deepseek-ai/dsh-agent-instructions'
import * as ObservationPolicy from '@deepseek-ai/dsh-fs-observation-policy'
import { CallId } from '@deepseek-ai/dsh-llm'
import { bindScopeParent, createScope } from '@deepseek-ai/dsh-scope'
import * as CheckpointPolicy from '@deepseek-ai/dsh-session-checkpoint-policy'
import * as ToolFs from '@deepseek-ai/dsh-tool-fs'
import { defineTool } from '@deepseek-ai/dsh-tools'
import ApprovalService from '@deepseek-ai/dsh-user-approval'
import * as ApprovalInvariant from '@deepseek-ai/dsh-user-approval/invariant'
import { systemClock } from '../../src/clock.ts'
import { openToolbox, GRANTED_MS, SEARCH_MS, type ToolAnswer, type Toolbox } from '../../src/review/tools/toolbox.ts'
import { hold, gateOf, text } from '../support/adapter-replies.ts'
import { createLoop, eventTypes, systemText, toolNames, type Loop, type LoopOptions } from '../support/loop.ts'
import { HandClock, turns } from '../unit/support/clock.ts'

const READING = ['read', 'grep', 'glob']

/** Files by path → content. */
type Files = Readonly<Record<string, string>>

class Bench {
  readonly loop: Loop
  readonly agent: Agent
  readonly box: Toolbox
  readonly clock: HandClock
  private calls = 0

  constructor(loop: Loop, agent: Agent, clock: HandClock, box: Toolbox) {
    this.loop = loop
    this.agent = agent
    this.clock = clock
    this.box = box
  }

  /** Call a tool with arguments as a model would write them. */
  run(name: string, args: object | string, granted: readonly string[] = READING, signal = new AbortController().signal): Promise<ToolAnswer> {
    const json = typeof args === 'string' ? args : JSON.stringify(args)
    return this.box.run({ id: `c${++this.calls}`, name, arguments: json }, granted, signal)
  }

  async said(name: string, args: object | string, granted?: readonly string[]): Promise<string> {
    return (await this.run(name, args, granted)).text
  }
}

/** A host that goes down with the test. */
async function startLoop(options: Partial<LoopOptions>): Promise<Loop> {
  const loop = await createLoop({ invariants: true, script: { primary: () => text('done') }, ...options })
  onTestFinished(() => loop.dispose())
  return loop
}

/** Nothing is locked to root: until the test is over, this process and its children are anyone. */
async function asAnyone(loop: Loop): Promise<void> {
  if (process.getuid?.() !== 0) return
  await chmod(loop.home, 0o755)
  process.seteuid!(65_534)
  onTestFinished(() => process.seteuid!(0))
}

/** A workspace with files, an agent in it and its toolbox. */
async function bench(files: Files, options: Partial<LoopOptions> = {}): Promise<Bench> {
  const loop = await startLoop({ fs: true, tools: false, ...options })
  const agent = await loop.agent()
  await write(loop.cwd, files)
  const clock = new HandClock()
  return new Bench(loop, agent, clock, openToolbox(loop.ctx, agent, clock))
}

async function write(folder: string, files: Files): Promise<void> {
  const folders = new Set(Object.keys(files).map(name => dirname(join(folder, name))))
  await Promise.all([...folders].map(name => mkdir(name, { recursive: true })))
  await Promise.all(Object.entries(files).map(([name, content]) => writeFile(join(folder, name), content)))
}

/** A folder beside the workspace. */
async function elsewhere(files: Files): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'advisor-elsewhere-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await write(folder, files)
  return folder
}

describe('what is offered', () => {
  it('has short schemas that are the same bytes every time, in the order asked for', async () => {
    const { box } = await bench({})
    const first = await box.offer(['read', 'grep', 'glob'])
    expect(first.schemas.map(schema => schema.name)).toEqual(READING)
    expect(first.unknown).toEqual([])
    const bytes = JSON.stringify(first.schemas)
    expect(bytes.length).toBeLessThan(1500)
    expect(JSON.stringify((await box.offer(['read', 'grep', 'glob'])).schemas)).toBe(bytes)
    expect((await box.offer(['glob', 'read'])).schemas.map(schema => schema.name)).toEqual(['glob', 'read'])
  })

  it('takes other names for the same tools, drops doubles and says which names are nobody\'s', async () => {
    const { box } = await bench({})
    const offer = await box.offer(['search', 'grep', 'find', 'teleport', 'read', 'teleport'])
    expect(offer.schemas.map(schema => schema.name)).toEqual(['grep', 'glob', 'read'])
    expect(offer.unknown).toEqual(['teleport'])
    expect(offer.trouble).toBeUndefined()
  })

  it('has neither the writing tools that come with the reading ones nor the reviewer\'s own word', async () => {
    const { box } = await bench({})
    expect(await box.offer(['write', 'edit', 'read_image', 'advise', 'run_code'])).toEqual({
      schemas: [], unknown: ['write', 'edit', 'read_image', 'advise', 'run_code'],
    })
  })

  it('has no file tools for a session without a folder, and says why', async () => {
    const loop = await startLoop({ fs: true, tools: false })
    const { agent } = await loop.ctx.agents.create({ sessionId: 'bare' as never, agentOptions: { provider: 'mock', model: 'primary' } })
    const box = openToolbox(loop.ctx, agent, new HandClock())
    expect(await box.offer(READING)).toEqual({ schemas: [], unknown: [], trouble: 'the session has no working folder' })
    const answer = await box.run({ id: 'c', name: 'read', arguments: '{"file_path":"/etc/passwd"}' }, READING, new AbortController().signal)
    expect(answer).toEqual({ text: '[not run: no "read" here: the session has no working folder]', isError: true })
  })

  it('does not wait for a host that has no files and says what is missing', async () => {
    const loop = await startLoop({ tools: false })
    const box = openToolbox(loop.ctx, await loop.agent(), new HandClock())
    expect(await box.offer(READING)).toEqual({ schemas: [], unknown: [], trouble: 'the host has no file service' })
    expect(await box.offer(['grep'])).toMatchObject({ schemas: [], trouble: 'the host has no file service' })
  })

  it('mounts nothing before it is asked, one registry for all sessions, and takes it away with its context', async () => {
    const loop = await startLoop({ fs: true, tools: false })
    let own: Context | undefined
    const fiber = await loop.mount({ name: 'holder', inject: ['agents'], apply: (ctx: Context) => { own = ctx } })
    const agents = [await loop.agent(), await loop.agent()]
    const before = loop.listeners()
    const boxes = agents.map(agent => openToolbox(own!, agent, systemClock))
    expect(loop.listeners()).toEqual(before)
    await boxes[0]!.offer(READING)
    const mounted = loop.listeners()
    expect(mounted).not.toEqual(before)
    expect((await boxes[1]!.offer(READING)).schemas).toHaveLength(3)
    expect(loop.listeners()).toEqual(mounted)
    await fiber.dispose()
    expect(loop.listeners().effects['ctx.provide("tools")']).toBe(before.effects['ctx.provide("tools")'])
    const answer = await boxes[0]!.run({ id: 'c', name: 'read', arguments: '{"file_path":"a"}' }, READING, new AbortController().signal)
    expect(answer.isError).toBe(true)
  })

  it('leaves the agent\'s own tools and prompt as they are', async () => {
    const { loop, agent, box } = await bench({ 'a.txt': 'x' })
    await box.offer(READING)
    await loop.prompt(agent, 'go')
    const [request] = loop.requests.primary
    expect(toolNames(request!)).toEqual([])
    expect(systemText(request!)).not.toContain('grep')
    expect(loop.ctx.tools.get('read')).toBeUndefined()
  })
})

describe('read', () => {
  it('shows lines with their numbers, by a path relative to the workspace', async () => {
    const it = await bench({ 'src/a.ts': 'one\ntwo\nthree\n' })
    expect(await it.run('read', { file_path: 'src/a.ts' })).toEqual({ isError: false, text: 'src/a.ts, lines 1-3 of 3\n1: one\n2: two\n3: three' })
    expect(await it.said('read', { file_path: join(it.loop.cwd, 'src/a.ts'), offset: 2, limit: 1 }))
      .toBe('src/a.ts, lines 2-2 of 3\n2: two\n[cut: lines 3-3 are not shown; read on with offset 3]')
  })

  it('bounds a long file and says where to go on', async () => {
    const it = await bench({ 'long.txt': Array.from({ length: 3000 }, (_, index) => `line ${index + 1} ${'.'.repeat(20)}`).join('\n') })
    const said = await it.said('read', { file_path: 'long.txt' })
    expect(said.length).toBeLessThan(25_000)
    const next = /read on with offset (\d+)\]$/.exec(said)?.[1]
    expect(await it.said('read', { file_path: 'long.txt', offset: Number(next) })).toContain(`\n${next}: line ${next} `)
  })

  it('answers in plain words whatever is wrong with the file or the call', async () => {
    const it = await bench({ 'a.txt': 'x', 'empty.txt': '', 'image.bin': 'a\0b', 'latin.txt': '', 'folder/b.txt': 'y', '..foo': 'inside' })
    await writeFile(join(it.loop.cwd, 'latin.txt'), Buffer.from([0x63, 0xe9, 0x0a]))
    const outside = await elsewhere({ 'secret.txt': 'secret' })
    await symlink(join(outside, 'secret.txt'), join(it.loop.cwd, 'link.txt'))
    await symlink(outside, join(it.loop.cwd, 'linked'))
    await symlink(join(outside, 'nothing'), join(it.loop.cwd, 'dangling'))
    const cases: readonly [object | string, RegExp][] = [
      [{ file_path: '..foo' }, /^\.\.foo, lines 1-1 of 1\n1: inside$/],
      [{ file_path: 'empty.txt' }, /^empty\.txt is empty$/],
      [{ file_path: 'gone.txt' }, /^\[failed: there is no "gone\.txt"\]$/],
      [{ file_path: 'dangling' }, /^\[failed: there is no "dangling"\]$/],
      [{ file_path: 'folder' }, /^\[failed: "folder" is a folder; glob lists its files\]$/],
      [{ file_path: 'image.bin' }, /^\[failed: cannot read "image\.bin": binary file\]$/],
      [{ file_path: 'latin.txt' }, /^\[failed: cannot read "latin\.txt": invalid UTF-8 text\]$/],
      [{ file_path: 'a.txt', offset: 9 }, /^\[failed: offset 9 is out of range for "a\.txt" \(1 lines\)\]$/],
      [{ file_path: 'a.txt', limit: 0 }, /^\[failed: limit must be a positive integer\]$/],
      [{ file_path: '../x' }, /^\[refused: "\.\.\/x" is outside the workspace\]$/],
      [{ file_path: '/etc/passwd' }, /^\[refused: .*outside the workspace\]$/],
      [{ file_path: 'link.txt' }, /^\[refused: .*outside the workspace\]$/],
      [{ file_path: 'linked/secret.txt' }, /^\[refused: .*outside the workspace\]$/],
      [{ file_path: 'linked/new.txt' }, /^\[refused: .*outside the workspace\]$/],
      [{ file_path: 12 }, /^\[not run: `file_path` has to be a string\]$/],
      [{}, /^\[not run: `file_path` is missing\]$/],
      ['{"file_path": "a.txt', /^\[not run: the arguments are not valid JSON\]$/],
    ]
    for (const [args, expected] of cases) expect(await it.said('read', args), JSON.stringify(args)).toMatch(expected)
  })

  it('says that it has no permission', async () => {
    const it = await bench({ 'locked.txt': 'x' })
    await chmod(join(it.loop.cwd, 'locked.txt'), 0)
    await asAnyone(it.loop)
    expect(await it.said('read', { file_path: 'locked.txt' })).toMatch(/^\[failed: no permission: /)
  })

  it('reads a session\'s folder, not the process\'s', async () => {
    const { loop } = await bench({})
    const other = await elsewhere({ 'package.json': '{"name":"other"}' })
    const box = openToolbox(loop.ctx, await loop.agent({ cwd: other }), new HandClock())
    const answer = await box.run({ id: 'c', name: 'read', arguments: '{"file_path":"package.json"}' }, READING, new AbortController().signal)
    expect(answer.text).toContain('"name":"other"')
  })
})

describe('grep', () => {
  it('finds a term that stands only in the last of 5,000 files', async () => {
    const it = await bench({})
    const files = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`d${index % 50}/f${String(index).padStart(4, '0')}.txt`, `number ${index}\n`]))
    await write(it.loop.cwd, { ...files, 'zz/last.txt': 'nothing\nthe needle is here\n' })
    expect(await it.said('grep', { pattern: 'needle' })).toBe('1 match\nzz/last.txt\n2: the needle is here')
    expect(await it.said('grep', { pattern: 'haystack' })).toBe('no matches in 5,001 files (hidden, git-ignored and binary files are not searched)')
    const all = await it.said('grep', { pattern: 'number' })
    expect(all).toMatch(/^(more than )?[\d,]+ matches\n/)
    expect(all).toMatch(/\[cut: 100 of (more than )?[\d,]+ matches shown; narrow the pattern or the path\]$/)
  }, 30_000)

  it('looks into one folder or one file, through one filter, and says when nothing was searched', async () => {
    const it = await bench({ 'src/a.ts': 'x = 1', 'src/b.js': 'x = 2', 'lib/c.ts': 'x = 3', '.github/ci.yml': 'x = 4', '.gitignore': 'lib', '.git/HEAD': '' })
    expect(await it.said('grep', { pattern: 'x =' })).toBe('2 matches\nsrc/a.ts\n1: x = 1\nsrc/b.js\n1: x = 2')
    expect(await it.said('grep', { pattern: 'x =', include: '*.ts' })).toBe('1 match\nsrc/a.ts\n1: x = 1')
    expect(await it.said('grep', { pattern: 'x =', include: 'src/*.js' })).toBe('1 match\nsrc/b.js\n1: x = 2')
    expect(await it.said('grep', { pattern: 'x =', path: 'lib/c.ts' })).toBe('1 match\nlib/c.ts\n1: x = 3')
    expect(await it.said('grep', { pattern: 'x =', path: '.github' })).toBe('1 match\n.github/ci.yml\n1: x = 4')
    expect(await it.said('search', { pattern: 'x =', path: join(it.loop.cwd, 'src/a.ts') })).toBe('1 match\nsrc/a.ts\n1: x = 1')
    expect(await it.said('grep', { pattern: 'x =', include: '*.py' })).toMatch(/^no file was searched/)
  })

  it('follows no link out of the workspace', async () => {
    const it = await bench({ 'a.txt': 'inside' })
    const outside = await elsewhere({ 'secret.txt': 'the needle' })
    await symlink(outside, join(it.loop.cwd, 'linked'))
    await symlink(join(outside, 'secret.txt'), join(it.loop.cwd, 'link.txt'))
    expect(await it.said('grep', { pattern: 'needle' })).toMatch(/^no matches in 1 file /)
    for (const path of ['linked', 'link.txt', 'linked/secret.txt', '..', outside, '/']) {
      expect(await it.said('grep', { pattern: 'needle', path }), path).toMatch(/^\[refused: .*outside the workspace\]$/)
    }
  })

  it('answers in plain words to a pattern that is none, a bad filter and a path that is not there', async () => {
    const it = await bench({ 'a.txt': 'x' })
    const cases: readonly [object, RegExp][] = [
      [{ pattern: '(' }, /pattern rejected by ripgrep: .*unclosed group/s],
      [{ pattern: '(a)\\1' }, /backreferences are not supported/],
      [{ pattern: '' }, /pattern must be a non-empty string/],
      [{ pattern: 'x', include: '!*.ts' }, /positive glob/],
      [{ pattern: 'x', include: '[' }, /error parsing glob/],
      [{ pattern: 'x', path: 'gone' }, /there is no "gone"/],
      [{ pattern: ['x'] }, /`pattern` has to be a string/],
    ]
    for (const [args, expected] of cases) {
      const answer = await it.run('grep', args)
      expect(answer.isError).toBe(true)
      expect(answer.text).toMatch(expected)
      expect(answer.text).not.toMatch(/no matches/i)
    }
  })

  it('gives the first of more results than it can hold, and says that they are cut', async () => {
    const it = await bench({ 'big.txt': `${'a line that matches, again and again\n'.repeat(40_000)}` })
    const said = await it.said('grep', { pattern: 'matches' })
    expect(said).toMatch(/^more than [\d,]+ matches\nbig\.txt\n1: a line that matches/)
    expect(said).toMatch(/\[cut: 100 of more than [\d,]+ matches shown; narrow the pattern or the path\]$/)
    expect(await it.said('grep', { pattern: 'never in there' })).toMatch(/^no matches in 1 file/)
  })

  it('passes over lines that are too long to show, names their files and goes on', async () => {
    const it = await bench({ 'bundle.js': `start${'x'.repeat(3_000_000)}end`, 'last.txt': 'start\n' })
    expect(await it.said('grep', { pattern: 'start' })).toBe('1 match\nlast.txt\n1: start\n[cut: matches on lines too long to show, in bundle.js]')
    expect(await it.said('grep', { pattern: 'end' })).toBe('nothing to show, but not everything was seen\n[cut: matches on lines too long to show, in bundle.js]')
  })

  it('stops an expression that explodes, says so, and leaves no process', async () => {
    const it = await bench({ 'a.txt': 'abab\n', 'big.txt': randomLetters(8_000_000) })
    const answer = it.run('grep', { pattern: EXPLODING })
    const child = await it.loop.until(() => searchesRunning()[0], 'a search is running')
    await it.clock.advance(SEARCH_MS)
    const { text: said, isError } = await answer
    expect(said).toContain('nothing to show, but not everything was seen')
    expect(said).toContain('[cut: the search was stopped after 15 s')
    expect(said).not.toMatch(/no matches/i)
    expect(isError).toBe(false)
    await it.loop.until(() => !existsSync(`/proc/${child}`), 'the search is gone')
    expect(it.clock.pending).toEqual([])
  }, 30_000)

  it('ends with the review, and leaves no process either', async () => {
    const it = await bench({ 'big.txt': randomLetters(8_000_000) })
    const review = new AbortController()
    const answer = it.run('grep', { pattern: EXPLODING }, READING, review.signal)
    const child = await it.loop.until(() => searchesRunning()[0], 'a search is running')
    review.abort()
    expect(await answer).toEqual({ text: '[cut: the review is over]', isError: true })
    await it.loop.until(() => !existsSync(`/proc/${child}`), 'the search is gone')
    await it.loop.until(() => it.clock.pending.length === 0, 'no timer is left')
  }, 30_000)

  it('searches the rest when a folder cannot be read, and never calls that a whole search', async () => {
    const it = await bench({ 'a.txt': 'needle', 'locked/b.txt': 'needle' })
    await chmod(join(it.loop.cwd, 'locked'), 0)
    onTestFinished(() => chmod(join(it.loop.cwd, 'locked'), 0o755))
    await asAnyone(it.loop)
    expect(await it.said('grep', { pattern: 'needle' })).toBe('1 match\na.txt\n1: needle\n[cut: not everything could be read: locked: Permission denied]')
    expect(await it.said('grep', { pattern: 'haystack' })).toBe('nothing to show, but not everything was seen\n[cut: not everything could be read: locked: Permission denied]')
  })
})

describe('glob', () => {
  it('finds files by patterns that start at the folder it looks into', async () => {
    const it = await bench({ 'src/a.ts': '', 'src/deep/b.ts': '', 'c.ts': '', '.env': '', 'README.md': '' })
    expect(await it.said('glob', { pattern: '*.ts' })).toBe('3 files\nc.ts\nsrc/a.ts\nsrc/deep/b.ts')
    expect(await it.said('glob', { pattern: 'src/*.ts' })).toBe('1 file\nsrc/a.ts')
    expect(await it.said('find', { pattern: 'deep/*.ts', path: 'src' })).toBe('1 file\nsrc/deep/b.ts')
    expect(await it.said('glob', { pattern: '.env' })).toBe('1 file\n.env')
    expect(await it.said('glob', { pattern: '*.py' })).toBe('no files match')
    expect(await it.said('glob', { pattern: '*', path: 'c.ts' })).toBe('[failed: "c.ts" is a file, not a folder]')
    expect(await it.said('glob', { pattern: '*', path: '..' })).toMatch(/^\[refused: /)
  })

  it('shows a part of too many files, spread over the folders', async () => {
    const it = await bench(Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`${index < 590 ? 'many' : 'few'}/f${index}`, ''])))
    const said = await it.said('glob', { pattern: 'f*' })
    expect(said).toMatch(/^600 files\nfew\/f590\n/)
    expect(said).toMatch(/\[cut: 200 of 600 files shown; narrow the pattern or the path\]$/)
  })

  it('lists nothing behind a link out of the workspace', async () => {
    const it = await bench({ 'a.txt': '' })
    await symlink(await elsewhere({ 'secret.txt': '' }), join(it.loop.cwd, 'linked'))
    expect(await it.said('glob', { pattern: '**/*.txt' })).toBe('1 file\na.txt')
  })
})

describe('a tool of the session', () => {
  const GRANTED = [...READING, 'note', 'deploy', 'edit', 'write', 'hang', 'shout', 'todo']

  it('runs only if it was granted, and is offered as the host describes it', async () => {
    const it = await bench({})
    register(it.loop.ctx, 'note', async () => 'noted')
    expect(await it.run('note', {})).toEqual({ text: '[not run: there is no tool "note" here; there is read, grep, glob]', isError: true })
    expect(await it.run('note', {}, [])).toEqual({ text: '[not run: there is no tool "note" here; there are none]', isError: true })
    const offer = await it.box.offer(['note', 'read'])
    expect(offer.schemas.map(schema => schema.name)).toEqual(['note', 'read'])
    expect(offer.schemas[0]).toEqual(it.loop.ctx.tools.schemas(it.agent).find(schema => schema.name === 'note'))
    expect(await it.run('note', {}, GRANTED)).toEqual({ text: 'noted', isError: false })
  })

  it('is found where an agent preset has put it, and a restriction of the agent holds for the reviewer', async () => {
    const it = await bench({})
    const preset = {}
    bindScopeParent(it.agent, preset)
    register(createScope(it.loop.ctx, preset).ctx, 'note', async () => 'from the preset')
    register(it.agent.ctx, 'deploy', async () => 'from the agent')
    register(it.loop.ctx, 'shout', async () => 'from the host')
    it.agent.ctx.tools.restrict({ deny: ['shout'] })
    expect((await it.box.offer(['note', 'deploy', 'shout'])).unknown).toEqual(['shout'])
    expect(await it.said('note', {}, GRANTED)).toBe('from the preset')
    expect(await it.said('deploy', {}, GRANTED)).toBe('from the agent')
    expect((await it.run('shout', {}, GRANTED)).isError).toBe(true)
    expect(it.loop.ctx.tools.get('note')).toBeUndefined()
  })

  it('is called by its name also where the agent\'s own model writes programs', async () => {
    const it = await bench({})
    register(it.loop.ctx, 'note', async () => 'noted')
    it.agent.ctx.tools.presentAs('code')
    expect(await it.said('note', {}, GRANTED)).toBe('noted')
    const direct = await it.loop.ctx.tools.execute({
      callId: CallId('own'), name: 'note', arguments: {}, agent: it.agent, signal: new AbortController().signal,
    })
    expect(direct.error?.info).toMatchObject({ code: 'UNKNOWN_TOOL' })
    expect((await it.box.offer(['run_code'])).unknown).toEqual(['run_code'])
  })

  it('runs where the host stores the session before a tool of its agent, without storing it', async () => {
    const it = await bench({}, { persistence: true })
    await it.loop.mount(CheckpointPolicy)
    let stored = 0
    it.loop.ctx.on('session/flush', async () => { stored++ })
    register(it.loop.ctx, 'note', async () => 'noted')
    expect(await it.said('note', {}, GRANTED)).toBe('noted')
    expect(stored).toBe(0)
  })

  it('cannot work in the background for an agent that it is not', async () => {
    const it = await bench({})
    register(it.loop.ctx, 'note', async (agent) => {
      if (it.loop.ctx.agents.get(agent.id) !== agent) throw new Error(`agent "${agent.id}" is not the registered agent instance`)
      return 'started'
    })
    expect(await it.said('note', {}, GRANTED)).toBe('[refused: only the agent itself can use "note" in this way]')
  })

  it('meets the guards of the agent', async () => {
    const it = await bench({})
    let ran = false
    register(it.loop.ctx, 'deploy', async () => { ran = true; return 'done' })
    it.agent.ctx.tools.guard(exec => exec.name === 'deploy' ? 'not on a Friday' : undefined)
    expect(await it.run('deploy', {}, GRANTED)).toEqual({ text: 'Error: not on a Friday', isError: true })
    expect(ran).toBe(false)
  })

  it('asks the user while the agent works, in the advisor\'s name, and does as they say', async () => {
    const { it, asked, answer } = await askingBench()
    const first = it.run('deploy', {}, GRANTED)
    await it.loop.until(() => asked.length === 1)
    expect(asked[0]).toMatchObject({ toolName: 'deploy', reason: 'the advisor asks: it leaves the machine', session: it.agent.session.id })
    answer('allowed-once')
    expect(await first).toEqual({ text: 'deployed', isError: false })
    const second = it.run('deploy', {}, GRANTED)
    await it.loop.until(() => asked.length === 2)
    answer('rejected')
    expect(await second).toEqual({ text: 'Error: the user rejected tool "deploy"', isError: true })
    expect(eventTypes(it.agent.session.events).filter(type => type.startsWith('approval'))).toEqual([
      'approval/asked', 'approval/decided', 'approval/asked', 'approval/decided',
    ])
  })

  it('is refused without a question when the agent is not working, and the log stays as it is', async () => {
    const { it, asked, finish } = await askingBench()
    await finish()
    const before = it.agent.session.events.length
    expect((await it.run('deploy', {}, GRANTED)).text).toMatch(/^\[refused: "deploy" needs the user's approval, which can be asked for only while the agent is working\]$/)
    expect(asked).toEqual([])
    expect(it.agent.session.events.length).toBe(before)
  })

  it('takes a question back when nobody answers in time', async () => {
    const { it, asked } = await askingBench()
    const call = it.run('deploy', {}, GRANTED)
    await it.loop.until(() => asked.length === 1)
    await it.clock.advance(GRANTED_MS)
    expect(await call).toEqual({ text: '[cut: stopped after 120 s without a result]', isError: true })
    expect(it.agent.session.events.findLast(event => event.type === 'approval/decided')?.data).toMatchObject({ outcome: 'cancelled' })
  })

  it('is refused where nobody can be asked', async () => {
    const it = await bench({})
    register(it.loop.ctx, 'deploy', async () => 'deployed')
    it.loop.ctx.on('tools/pre-execute', async () => ({ kind: 'ask', reason: 'it leaves the machine' }))
    expect(await it.run('deploy', {}, GRANTED)).toEqual({ text: 'Error: the advisor asks: it leaves the machine', isError: true })
  })

  it('ends by the deadline even if it ignores its signal', async () => {
    const it = await bench({})
    register(it.loop.ctx, 'hang', () => new Promise<never>(() => {}))
    const call = it.run('hang', {}, GRANTED)
    await it.loop.until(() => it.clock.pending.length > 0)
    await turns()
    await it.clock.advance(GRANTED_MS)
    await it.clock.advance(2_000)
    expect(await call).toEqual({ text: '[cut: stopped after 120 s without a result]', isError: true })
    expect(it.clock.pending).toEqual([])
  })

  it('has its output bounded, and its throw told', async () => {
    const it = await bench({})
    register(it.loop.ctx, 'shout', async () => 'x'.repeat(100_000))
    register(it.loop.ctx, 'hang', async () => { throw new Error('it broke') })
    expect((await it.said('shout', {}, GRANTED)).length).toBeLessThan(24_100)
    expect(await it.said('shout', {}, GRANTED)).toMatch(/\[cut: 76,000 characters here\]/)
    const { text: said, isError } = await it.run('hang', {}, GRANTED)
    expect(isError).toBe(true)
    expect(said).toContain('it broke')
  })

  it('can neither write the session\'s log nor drive its agent', async () => {
    const it = await bench({})
    register(it.loop.ctx, 'todo', async (agent) => { (agent.session.append as (type: string, data: object) => void)('todo/write', { todos: [] }); return 'written' })
    register(it.loop.ctx, 'shout', async (agent) => { agent.steer({} as never); return 'steered' })
    const before = it.agent.session.events.length
    expect(await it.said('todo', {}, GRANTED)).toContain('a reviewer\'s tool cannot write "todo/write" into the session')
    expect(await it.said('shout', {}, GRANTED)).toContain('a reviewer\'s tool cannot drive the agent')
    expect(it.agent.session.events.length).toBe(before)
    expect(it.agent.inbox.hasPending).toBe(false)
  })

  it('never lets the agent edit what only its reviewer has read', async () => {
    const it = await bench({ 'a.txt': 'old\n', 'b.txt': 'old\n' })
    await it.loop.mount(ToolFs, {})
    await it.loop.mount(ObservationPolicy)
    const edit = (agent: Agent, file: string) => it.loop.ctx.tools.execute({
      callId: CallId(`own-${file}`), name: 'edit', agent, signal: new AbortController().signal,
      arguments: { file_path: file, old_string: 'old', new_string: 'new' },
    })
    const refused = /requires reading/
    expect(await it.said('read', { file_path: 'a.txt' })).toContain('1: old')
    expect((await edit(it.agent, 'a.txt')).content[0]).toMatchObject({ text: expect.stringMatching(refused) as string })
    // The reviewer's own scope has the same rule, and a memory of its own.
    expect(await it.said('edit', { file_path: 'b.txt', old_string: 'old', new_string: 'new' }, GRANTED)).toMatch(refused)
    expect(await it.said('read', { file_path: 'b.txt' }, GRANTED)).toContain('1: old')
    expect(await it.said('edit', { file_path: 'b.txt', old_string: 'old', new_string: 'new' }, GRANTED)).toContain('updated successfully')
    expect(readFileSync(join(it.loop.cwd, 'b.txt'), 'utf8')).toBe('new\n')
    for (const file of ['a.txt', 'b.txt']) {
      expect((await edit(it.agent, file)).content[0], file).toMatchObject({ text: expect.stringMatching(refused) as string })
    }
  })

  it('brings no instructions of a nested folder into the agent\'s context', async () => {
    const it = await bench({ 'sub/AGENTS.md': 'Speak only Latin.', 'sub/a.txt': 'old\n' })
    await it.loop.mount(ToolFs, {})
    await it.loop.mount(AgentInstructions, { dshHome: it.loop.home, maxBytes: 10_000 })
    await it.said('read', { file_path: 'sub/a.txt' }, GRANTED)
    await it.said('edit', { file_path: 'sub/a.txt', old_string: 'old', new_string: 'new' }, GRANTED)
    await it.loop.prompt(it.agent, 'go')
    expect(JSON.stringify(it.loop.requests.primary)).not.toContain('Latin')
    expect(it.loop.logs.filter(line => line.text.includes('refresh failed'))).toEqual([])
    // What the agent itself reads does.
    await it.loop.ctx.tools.execute({
      callId: CallId('own'), name: 'read', arguments: { file_path: 'sub/a.txt' }, agent: it.agent, signal: new AbortController().signal,
    })
    await it.loop.prompt(it.agent, 'on')
    expect(JSON.stringify(it.loop.requests.primary)).toContain('Latin')
  })

  it('leaves no scope behind when its agent is gone', async () => {
    const { loop } = await bench({})
    register(loop.ctx, 'note', async () => 'noted')
    const before = loop.listeners()
    const agent = await loop.agent()
    const box = openToolbox(loop.ctx, agent, systemClock)
    expect((await box.run({ id: 'c', name: 'note', arguments: '{}' }, GRANTED, new AbortController().signal)).text).toBe('noted')
    await loop.close(agent)
    await loop.settle()
    expect(loop.listeners()).toEqual(before)
  })
})

/** Register a tool without parameters in a context. */
function register(ctx: Context, name: string, execute: (agent: Agent) => Promise<string>): void {
  ctx.get('tools')!.register(defineTool({
    name, description: `the tool ${name}`, parameters: {},
    output: { schema: { type: 'string' }, render: (_args, value) => [{ type: 'text', text: value }] },
    execute: (_args, exec) => execute(exec.agent!),
  }))
}

type Outcome = 'allowed-once' | 'rejected'

/** An agent in the middle of a step, with a tool `deploy` that needs the user's approval. */
async function askingBench() {
  const reply = hold(text('done'))
  const it = await bench({}, { script: { primary: () => reply } })
  await it.loop.mount(ApprovalService, {})
  await it.loop.mount(ApprovalInvariant)
  register(it.loop.ctx, 'deploy', async () => 'deployed')
  it.loop.ctx.on('tools/pre-execute', async (exec, next) => exec.name === 'deploy' ? { kind: 'ask', reason: 'it leaves the machine' } : next())
  const asked: object[] = []
  let settle: (outcome: Outcome) => void = () => {}
  it.loop.ctx.on('approval/request', (request) => {
    asked.push({ toolName: request.toolName, reason: request.reason, session: request.agent.session.id })
    return new Promise((resolve) => { settle = resolve })
  })
  const turn = it.loop.prompt(it.agent, 'go')
  await gateOf(reply).reached
  return {
    it, asked,
    answer: (outcome: Outcome) => settle(outcome),
    finish: async () => {
      gateOf(reply).release()
      await turn
    },
  }
}

/** Takes ripgrep far longer than any deadline on text of `a` and `b` alone. */
const EXPLODING = '([ab]{1,200}a){3}x'

function randomLetters(length: number): string {
  let state = 1
  return Array.from({ length }, () => (state = state * 48271 % 2147483647) & 64 ? 'a' : 'b').join('')
}

/** Process ids of ripgrep children of this process. */
function searchesRunning(): string[] {
  return readdirSync('/proc').filter(id => /^\d+$/.test(id)).filter((id) => {
    try {
      const command = readFileSync(`/proc/${id}/cmdline`, 'utf8')
      return command.includes(EXPLODING) && readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(process.pid)
    } catch {
      return false
    }
  })
}
