// A reviewer that looks for itself, on the published hosts: what it finds, what it is refused, and that the agent's own state,
// log and requests are those of a run in which nobody looked.

import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest'
import { createHost, type Host, type PatchRow } from '../support/host.ts'
import { adviseEach, empty, messageText, REVIEWER_MODEL, text, toolCalls, type Reply, type Script, type ToolCall } from '../support/model-server.ts'
import { bash, notes, startLines, toolResults, userTexts, type Line } from './moments-line.ts'
import { startWeb } from './moments-web.ts'
import { resumeSession } from './resume.ts'

/** With catch-up, so that every step is reviewed by itself and before the next one. */
const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, syncBacklog: 1, immuneTurns: 0 }
const COMMENT = 'Prices are in cents, never in euros, and every function that returns one says so in its name.'
const OUTSIDE = 'nobody who reviews may read this'
const RULES = 'Use pnpm, never npm.'
/** The host shows them to an agent that reads in the folder `src`. */
const RULES_BELOW = 'No classes in this folder.'

const FILES = {
  'src/price.ts': `// ${COMMENT}\nexport const totalCents = 1\n`,
  'src/menu.ts': 'export const menu = []\n',
  'src/AGENTS.md': `${RULES_BELOW}\n`,
}

/** Lets `bash` run only with the user's approval, answers as its configuration says, and writes down what it was asked. */
const GATE = `
import { appendFileSync } from 'node:fs'
export const name = 'gate'
export const inject = ['approval', 'tools']
export function apply(ctx, { answer, record }) {
  ctx.on('tools/pre-execute', async (exec, next) => exec.name === 'bash' ? { kind: 'ask', reason: 'it runs a command' } : next())
  if (answer !== undefined) ctx.on('approval/request', async ({ toolName, reason }) => {
    appendFileSync(record, toolName + ': ' + reason + '\\n')
    return answer
  })
}
`

const read = (path: string): ToolCall => ({ name: 'read', arguments: { file_path: path } })
const grep = (pattern: string, path?: string): ToolCall => ({ name: 'grep', arguments: { pattern, ...path === undefined ? {} : { path } } })
const glob = (pattern: string, path?: string): ToolCall => ({ name: 'glob', arguments: { pattern, ...path === undefined ? {} : { path } } })

/** A model that replies with these, one after the other, and then with the last one for ever. */
function inTurn(...replies: Reply[]): Script {
  return (_, index) => replies[Math.min(index, replies.length - 1)]!
}

/** Each list of calls is one reply of a reviewer, after which it is silent. */
function looks(...rounds: ToolCall[][]): Script {
  return inTurn(...rounds.map(calls => toolCalls(calls)), empty())
}

/** An agent that makes one step, and answers. */
const oneStep = inTurn(toolCalls([bash('echo step 1')]), text('answer'))

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

/** A file beside the workspace, and links to it and to its folder in the workspace. Returns its path. */
function writeOutside(host: Host): string {
  const folder = join(host.root, 'outside')
  write(folder, { 'secret.txt': OUTSIDE })
  symlinkSync(join(folder, 'secret.txt'), join(host.work, 'link.txt'))
  symlinkSync(folder, join(host.work, 'linked'))
  return join(folder, 'secret.txt')
}

/** Ways out of the workspace, and what the reviewer is told. */
function waysOut(secret: string): (readonly [ToolCall, string])[] {
  const refused = (path: string) => `[refused: "${path}" is outside the workspace]`
  return [
    [read('../outside/secret.txt'), refused('../outside/secret.txt')],
    [read(secret), refused(secret)],
    [read('link.txt'), refused('link.txt')],
    [grep('nobody', 'linked'), refused('linked')],
    [glob('*', '..'), refused('..')],
    [grep('nobody who reviews'), 'no matches in 4 files (hidden, git-ignored and binary files are not searched)'],
  ]
}

/** What comes back from looks into {@link FILES}. */
const WAYS_IN: readonly (readonly [ToolCall, string])[] = [
  [read('src/price.ts'), `src/price.ts, lines 1-2 of 2\n1: // ${COMMENT}\n2: export const totalCents = 1`],
  [grep('total'), '1 match\nsrc/price.ts\n2: export const totalCents = 1'],
  [glob('*.ts'), '2 files\nsrc/menu.ts\nsrc/price.ts'],
]

function toolNames({ requests }: Line): string[][] {
  return requests.map(({ body }) => body.tools?.map(tool => tool.function.name) ?? [])
}

describe('on the headless host', () => {
  let host: Host

  beforeAll(async () => {
    host = await createHost({ tarball: inject('tarball') })
    // As text, so that a test sees what stands in the log.
    host.patch([{ id: 'session-persistence-jsonl', config: { root: join(host.home, 'sessions'), compression: 'none' } }])
  })
  afterAll(() => host.dispose())
  beforeEach(() => {
    host.settings({ advisor: ON })
    write(host.work, FILES)
  })

  /** One run, with what its models were asked. */
  async function run(scripts: { primary?: Script, reviewer: Script }, advisor: object = {}, patch: PatchRow[] = []) {
    host.settings({ advisor: { ...ON, ...advisor } })
    await using server = await startLines({ primary: oneStep, ...scripts })
    const result = await host.run('Clean up the sources', { server, patch })
    return { ...result, primary: server.primary, reviewer: server.reviewer }
  }

  test('the reviewer reads, searches and lists the folder of the session, and gets nothing from outside it', async () => {
    const secret = writeOutside(host)
    onTestFinished(() => { for (const name of ['link.txt', 'linked']) rmSync(join(host.work, name)) })
    const asked = [...WAYS_IN, ...waysOut(secret)]
    const { reviewer, ...result } = await run({ reviewer: looks(...asked.map(([call]) => [call])) })

    expect(result).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
    expect(toolResults(reviewer.requests[asked.length])).toEqual(asked.map(([, answer]) => answer))
    expect(reviewer.requests.map(({ bodyText }) => bodyText).join('')).not.toContain(OUTSIDE)
  })

  test.each([
    [['read', 'grep', 'glob'], WAYS_IN.map(([call]) => call)],
    [['read', 'bash'], [read('src/price.ts'), bash('cat src/menu.ts')]],
  ])('with %j the agent\'s requests and log are those of a run in which the reviewer looks at nothing', async (tools, calls) => {
    const logs: string[][] = []
    const requests: string[][] = []
    for (const reviewer of [looks(calls), looks()]) {
      const { primary } = await run({ reviewer }, { tools })
      requests.push(primary.requests.map(({ bodyText }) => bodyText))
      logs.push(eventTypes(host))
    }
    expect(requests[0]).toEqual(requests[1])
    expect(logs[0]).toEqual(logs[1])
  })

  test.each([[['read', 'grep', 'glob']], [['read', 'bash']]])('a file that only the reviewer has read, with %j, is one the agent may not edit yet', async (tools) => {
    const edit = { name: 'edit', arguments: { file_path: 'src/price.ts', old_string: '= 1', new_string: '= 2' } }
    const primary = inTurn(...[[bash('echo step 1')], [edit], [read('src/price.ts')], [edit]].map(calls => toolCalls(calls)), text('answer'))
    const result = await run({ primary, reviewer: looks([read('src/price.ts')]) }, { tools })

    expect(toolResults(result.reviewer.requests[1])[0]).toContain(COMMENT)
    const [, first, , second] = toolResults(result.primary.requests[4])
    expect(first).toContain('edit requires reading')
    expect(second).not.toContain('Error')
    const hasRules = result.primary.requests.map(({ bodyText }) => bodyText.includes(RULES_BELOW))
    expect(hasRules).toEqual([false, false, false, true, true])
    expect(readFileSync(join(host.work, 'src/price.ts'), 'utf8')).toContain('= 2')
  })

  test('the reviewer is shown what the agent writes into a new file, which the host itself gives no hunks for', async () => {
    onTestFinished(() => rmSync(join(host.work, 'src/tip.ts')))
    const { reviewer } = await run({
      primary: inTurn(toolCalls([{ name: 'write', arguments: { file_path: 'src/tip.ts', content: 'export const tip = 1\n' } }]), text('answer')),
      reviewer: looks(),
    })
    expect(userTexts(reviewer.requests[0]).at(-1)).toContain('→ write(src/tip.ts)\n[tool result]\n+export const tip = 1\n')
  })

  test('a blocker whose quote stands nowhere arrives as a concern, and the reviewer is told; one that was read arrives as it is', async () => {
    const invented = { note: 'Prices are in euros.', severity: 'blocker', evidence: { quote: 'all prices are in euros', path: 'src/price.ts' } }
    const proved = { note: 'The name does not say cents.', severity: 'blocker', evidence: { quote: COMMENT } }
    const { primary, reviewer } = await run({
      primary: inTurn(toolCalls([bash('echo step 1')]), toolCalls([bash('echo step 2')]), text('answer')),
      reviewer: inTurn(adviseEach([invented]), toolCalls([read('src/price.ts')]), adviseEach([proved]), empty()),
    })
    expect(notes(primary.requests[1])).toEqual([`concern: ${invented.note}`])
    expect(notes(primary.requests[2])).toEqual([`concern: ${invented.note}`, `blocker: ${proved.note}`])
    expect(toolResults(reviewer.requests[1])).toEqual([
      'Recorded as a concern: its quote does not stand in what you were shown or have read, nor in `src/price.ts` as it is now.',
    ])
    expect(toolResults(reviewer.requests[3]).at(-1)).toBe('Recorded.')
  })

  test('a call made again is answered by a reference, until the file is another', async () => {
    const { reviewer } = await run({
      primary: inTurn(toolCalls([bash('echo step 1')]), toolCalls([bash('echo "export const taxCents = 2" >> src/price.ts')]), text('answer')),
      reviewer: inTurn(toolCalls([read('src/price.ts')]), toolCalls([read('src/price.ts')]), empty(), toolCalls([read('src/price.ts')]), empty()),
    })
    const [whole, again, changed] = toolResults(reviewer.requests[4])
    expect(whole).toContain(COMMENT)
    expect(again).toBe('[unchanged since your earlier call]')
    expect(changed).toContain('3: export const taxCents = 2')
  })

  test('more calls than `toolCalls` are refused, and a reviewer that goes on asking is not asked again about that update', async () => {
    const calls = ['menu', 'total', 'tax', 'fee', 'tip'].map(word => grep(word))
    const result = await run({ reviewer: looks(calls.slice(0, 3), calls.slice(3, 4), calls.slice(4)) }, { toolCalls: 2 })
    const { reviewer } = result

    expect(result).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
    const advice = 'Call `advise` now if you have a finding, else reply `ok`]'
    expect(toolResults(reviewer.requests[2])).toEqual([
      '1 match\nsrc/menu.ts\n1: export const menu = []', '1 match\nsrc/price.ts\n2: export const totalCents = 1',
      `[not run: too many calls. ${advice}`, `[not run: this review has had all its calls. ${advice}`,
    ])
    // The fourth request is about the answer.
    expect(reviewer.requests.map(request => userTexts(request).filter(content => content.startsWith('## step')).length)).toEqual([1, 1, 1, 2])
  })

  test.each([
    ['allowed', 'allowed-once', COMMENT],
    ['rejected', 'rejected', 'Error: the user rejected tool "bash"'],
    ['answered by nobody', undefined, 'Error: tool "bash" requires approval, but no approval channel is available'],
  ])('a tool that was granted runs through the approvals of the session: %s', async (_, answer, expected) => {
    const record = join(host.home, `asked-${answer}`)
    const path = join(host.home, 'profiles', host.profile, 'gate.mjs')
    writeFileSync(path, GATE)
    const { reviewer, primary } = await run({
      primary: inTurn(toolCalls([glob('*.ts')]), text('answer')),
      reviewer: looks([bash('cat src/price.ts')]),
    }, { tools: ['read', 'grep', 'glob', 'bash'] }, [{ insert: [{ id: 'gate', name: path, config: { record, ...answer === undefined ? {} : { answer } } }] }])

    expect(toolNames(reviewer)[0]).toEqual(['advise', 'read', 'grep', 'glob', 'bash'])
    expect(toolResults(reviewer.requests[1])[0]).toContain(expected)
    if (answer !== undefined) expect(readFileSync(record, 'utf8')).toBe('bash: the advisor asks: it runs a command\n')
    expect(eventTypes(host).filter(type => type.startsWith('approval/') && type !== 'approval/policy')).toEqual(['approval/asked', 'approval/decided'])
    expect(primary.requests.map(({ bodyText }) => bodyText).join('')).not.toContain(COMMENT)
  })

  test('a tool that does not exist is one line on stderr, and the others are there', async () => {
    const { reviewer, ...result } = await run({ reviewer: looks([read('src/menu.ts')]) }, { tools: ['read', 'teleport'] })
    expect(result).toMatchObject({ code: 0, stdout: 'answer\n' })
    expect(result.stderr).toBe('dsh-advisor: there is no tool "teleport" in this session; the reviewer works without\n')
    expect(new Set(toolNames(reviewer).map(String))).toEqual(new Set(['advise,read']))
    expect(toolResults(reviewer.requests[1])[0]).toContain('export const menu')
  })

  test('with `tools: []` no tools are sent, and one JSON object is a note', async () => {
    const note = { note: 'The menu is {empty}.', severity: 'concern', evidence: { quote: 'step 1' } }
    const { primary, reviewer } = await run({
      reviewer: inTurn(text(`My verdict:\n\`\`\`json\n${JSON.stringify(note)}\n\`\`\``), empty()),
    }, { tools: [] })
    expect(reviewer.requests.map(({ body }) => body.tools)).toEqual([undefined, undefined])
    expect(messageText(reviewer.requests[0]!.body.messages[0])).toContain('reply with exactly one JSON object')
    expect(notes(primary.requests[1])).toEqual([`concern: ${note.note}`])
  })

  test('the reviewer is told the rules that the agent is under, as the session has them and not as the files are now', async () => {
    write(host.work, { 'AGENTS.md': RULES })
    onTestFinished(() => rmSync(join(host.work, 'AGENTS.md'), { force: true }))
    const first = await run({ reviewer: looks() })
    expect(userTexts(first.primary.requests[0]).join('\n')).toContain(RULES)
    expect(userTexts(first.reviewer.requests[0]).join('\n')).toContain(RULES)

    rmSync(join(host.work, 'AGENTS.md'))
    await using server = await startLines({ primary: oneStep, reviewer: looks() })
    await resumeSession(host, host.sessions().at(-1)!, 'Go on', { server })
    const [head = ''] = userTexts(server.reviewer.requests[0])
    expect(head).toMatch(new RegExp(`<primary-context kind="instructions">[^]*${RULES}[^]*</primary-context>`))
  })
})

test('on the web host the reviewer looks into the session\'s folder, with the session\'s own tools too, and the agent has still read nothing', async () => {
  await using web = await startWeb({
    tarball: inject('tarball'), advisor: { ...ON, tools: ['read', 'grep', 'glob', 'bash'] }, prepare: host => write(host.work, FILES),
  })
  const secret = writeOutside(web.host)
  const asked = [...WAYS_IN, ...waysOut(secret)]
  const edit = { name: 'edit', arguments: { file_path: 'src/price.ts', old_string: '= 1', new_string: '= 2' } }
  const { primary, reviewer, prompt, rest } = await web.open({
    primary: inTurn(toolCalls([bash('echo step 1')]), toolCalls([edit]), text('answer')),
    reviewer: looks(...asked.map(([call]) => [call]), [bash('cat src/menu.ts')]),
  })
  await prompt('Clean up the sources')
  await rest()

  const results = toolResults(reviewer.requests[asked.length + 1])
  expect(results.slice(0, -1)).toEqual(asked.map(([, answer]) => answer))
  expect(results.at(-1)).toContain('export const menu')
  expect(toolResults(primary.requests[2]).at(-1)).toContain('edit requires reading')
  expect(await web.close()).toBe('')
})

/** What stands in the log of the newest session, without the stream. */
function eventTypes(host: Host): string[] {
  const log = readFileSync(join(host.sessions().at(-1)!, 'session.jsonl'), 'utf8')
  return log.trimEnd().split('\n').map(line => String((JSON.parse(line) as { type?: unknown }).type)).filter(type => type !== 'assistant/chunk')
}
