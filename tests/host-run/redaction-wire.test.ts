// Secrets of every kind, in every place where a session can hold them, on the published host: none is in a request that goes to the
// reviewer's model, nor in the journal. The same session without redaction shows that each of them would have been.

import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createHost, type Host } from '../support/host.ts'
import { empty, messageText, REVIEWER_MODEL, text, toolCalls, type ModelRequest, type Script, type ToolCall } from '../support/model-server.ts'
import { samples, type Sample } from '../support/secrets.ts'
import { bash, startLines } from './moments-line.ts'

interface Place {
  name: string
  /** Whether a sample fits there uncut; the others are there in part, or not at all. */
  fits(sample: Sample): boolean
  /** The agent's model gets it, too. */
  primary: boolean
}

const everything = () => true
const PLACES = {
  prompt: { name: 'the prompt', fits: everything, primary: true },
  rules: { name: 'AGENTS.md', fits: everything, primary: true },
  guidance: { name: 'WATCHDOG.md', fits: everything, primary: false },
  words: { name: 'the agent\'s words', fits: everything, primary: true },
  reasoning: { name: 'the agent\'s reasoning', fits: everything, primary: false },
  argument: { name: 'the arguments of a call', fits: ({ text }) => text.length < 250, primary: true },
  result: { name: 'the result of a call', fits: everything, primary: true },
  diff: { name: 'a diff', fits: everything, primary: true },
  path: { name: 'the name of a file', fits: ({ text }) => /^[^/\n]{1,200}$/.test(text), primary: true },
  read: { name: 'a file that the reviewer reads', fits: everything, primary: false },
  found: { name: 'what the reviewer\'s search finds', fits: ({ text }) => text.length < 400 && !text.includes('\n'), primary: false },
} satisfies Record<string, Place>

type PlaceName = keyof typeof PLACES
/** A corpus of its own for each place, so that a secret tells where it stood. */
type Corpora = Readonly<Record<PlaceName, readonly Sample[]>>

/** The samples are spread over so many sessions, and in each over so many steps, that nothing is too long to be shown. */
const SESSIONS = 3
const STEPS = 4
const ON = {
  enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, syncBacklog: 1, includeReasoning: true,
  maxDeltaMessages: 0, maxDeltaChars: 500_000, maxContextTokens: 500_000,
}

const corpora = Object.fromEntries(Object.keys(PLACES).map((place, index) => [place, samples(index + 1)])) as Record<PlaceName, Sample[]>

function part(session: number): Corpora {
  return mapPlaces(place => sliceOf(corpora[place], session, SESSIONS))
}

function mapPlaces<T>(map: (place: PlaceName) => T): Record<PlaceName, T> {
  return Object.fromEntries((Object.keys(PLACES) as PlaceName[]).map(place => [place, map(place)])) as Record<PlaceName, T>
}

/** Every nth, so that the long ones are spread. */
function sliceOf(list: readonly Sample[], index: number, of: number): Sample[] {
  return list.filter((_, at) => at % of === index)
}

function page(list: readonly Sample[]): string {
  return list.map(sample => sample.text).join('\n\n')
}

function pathOf({ text }: Sample): string {
  return `names/${text}`
}

const nameable = (list: readonly Sample[]) => list.filter(PLACES.path.fits)

let host: Host

beforeAll(async () => {
  host = await createHost({ tarball: inject('tarball') })
})
afterAll(() => host.dispose())

/** The agent and the user bring all samples of a session up; the reviewer looks for those in the files. */
async function run(corpus: Corpora, redact: boolean) {
  host.settings({ advisor: { ...ON, redact } })
  for (const folder of ['names', 'out']) rmSync(join(host.work, folder), { recursive: true, force: true })
  const step = (index: number): Corpora => mapPlaces(place => sliceOf(corpus[place], index, STEPS))
  const files = {
    'AGENTS.md': page(corpus.rules), 'WATCHDOG.md': page(corpus.guidance), 'kept/read.txt': page(corpus.read), 'kept/found.txt': page(corpus.found),
    ...Object.fromEntries(Array.from({ length: STEPS }, (_, index) => [`kept/result-${index}.txt`, page(step(index).result)])),
    ...Object.fromEntries(nameable(corpus.path).map(sample => [pathOf(sample), 'x'])),
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(host.work, name)), { recursive: true })
    writeFileSync(join(host.work, name), content)
  }
  const primary: Script = (_, index) => {
    if (index >= STEPS) return text('answer')
    const { words, reasoning, argument, diff, path } = step(index)
    const calls: ToolCall[] = [
      ...argument.map(sample => bash(`cat > /dev/null <<'END'\n${sample.text}\nEND`)), bash(`cat kept/result-${index}.txt`),
      { name: 'write', arguments: { file_path: `out/${index}.txt`, content: page(diff) } },
      ...nameable(path).map(sample => ({ name: 'read', arguments: { file_path: pathOf(sample) } })),
    ]
    return toolCalls(calls, { text: page(words), reasoning: page(reasoning) })
  }
  const look = toolCalls([
    { name: 'read', arguments: { file_path: 'kept/read.txt' } }, { name: 'grep', arguments: { pattern: '.', path: 'kept/found.txt' } },
    { name: 'glob', arguments: { pattern: 'names/*' } },
  ])
  await using server = await startLines({ primary, reviewer: (_, index) => index === 0 ? look : empty() })
  const result = await host.run(page(corpus.prompt), { server })
  expect(result).toMatchObject({ code: 0, stdout: 'answer\n' })
  expect(server.primary.requests).toHaveLength(STEPS + 1)
  return { primary: server.primary.requests, reviewer: server.reviewer.requests, journal: journal() }
}

/** What stands in the newest session's journals. */
function journal(): string {
  const folder = join(host.sessions().at(-1)!, 'advisor')
  return readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8')).join('')
}

/** All that a model was sent. */
function sent(requests: readonly ModelRequest[]): string {
  return requests.map(({ bodyText }) => bodyText).join('\n')
}

/** The samples that are meant, each with its place. */
function list(corpus: Corpora, isMeant: (sample: Sample, place: Place) => boolean): string[] {
  return (Object.keys(PLACES) as PlaceName[]).flatMap(place => (
    corpus[place].filter(sample => isMeant(sample, PLACES[place])).map(({ name }) => `${PLACES[place].name}: ${name}`)
  ))
}

describe.each(Array.from({ length: SESSIONS }, (_, index) => [index + 1, part(index)] as const))('session %i of the corpus', (_, corpus) => {
  test('without redaction, the reviewer is shown each secret in each place', async () => {
    const { reviewer, journal: written } = await run(corpus, false)
    const shown = reviewer.map(({ body }) => body.messages.map(messageText).join('\n')).join('\n')
    expect(list(corpus, (sample, { fits }) => fits(sample) && !shown.includes(sample.secret))).toEqual([])
    expect(list(corpus, ({ secret }) => written.includes(secret)).length).toBeGreaterThan(100)
  })

  test('with redaction, no request of the reviewer holds one and neither does the journal, and the agent\'s requests still do', async () => {
    const { primary, reviewer, journal: written } = await run(corpus, true)
    const [told, kept] = [sent(reviewer), sent(primary)]
    expect(list(corpus, ({ secret }) => told.includes(secret))).toEqual([])
    expect(list(corpus, ({ secret }) => written.includes(secret))).toEqual([])
    expect(list(corpus, (sample, place) => place.primary && place.fits(sample) && !kept.includes(sample.secret))).toEqual([])
    expect(told).toMatch(/\[secret \d+: [\w-]+\]/)
  })
})

test('what the host keeps as a credential, and what a pattern of the user fits, is hidden by one name wherever it stands', async () => {
  const [stored, ticket] = ['otters eat crayfish', 'ticket-4711']
  // What the tests before it left in the folder is not counted here.
  for (const name of readdirSync(host.work).filter(name => name !== '.git')) rmSync(join(host.work, name), { recursive: true })
  writeFileSync(join(host.home, '.credentials.yaml'), `SHOP_LOGIN: ${stored}\n`, { mode: 0o600 })
  host.settings({ advisor: { ...ON, redactPatterns: ['ticket-\\d+'] } })
  await using server = await startLines({
    primary: (_, index) => index === 0 ? toolCalls([bash(`echo "${stored}; ${ticket}"`)]) : text(`It says ${stored} and ${ticket}.`), reviewer: () => empty(),
  })
  await host.run('Look at the shop', { server })

  const told = sent(server.reviewer.requests)
  expect([stored, ticket].filter(secret => told.includes(secret) || journal().includes(secret))).toEqual([])
  expect([stored, ticket].filter(secret => !sent(server.primary.requests).includes(secret))).toEqual([])
  // In the call, in what came back, and in the answer.
  const names = server.reviewer.requests.at(-1)!.body.messages.map(messageText).join('\n').match(/\[secret \d+: [\w-]+\]/g)
  expect(names).toHaveLength(6)
  expect(new Set(names).size).toBe(2)
})
