// The host is killed in the middle of a turn, and the session is taken up again: nothing goes on by itself, the reviewer knows what
// it said, and no note is given twice.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { createHost, type Host } from '../support/host.ts'
import { advise, empty, REVIEWER_MODEL, text, toolCalls } from '../support/model-server.ts'
import { poll } from '../support/poll.ts'
import { bash, lastText, notes, startLines, userTexts } from './moments-line.ts'
import { resumeSession } from './resume.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off', immuneTurns: 0 }
const FILES = 'The files in src/old are still imported.'
const PORT = 'Port 8080 is taken by the proxy.'

let host: Host

beforeAll(async () => {
  host = await createHost({ tarball: inject('tarball') })
  // As text, so that a test sees what a crash leaves behind.
  host.patch([{ id: 'session-persistence-jsonl', config: { root: join(host.home, 'sessions'), compression: 'none' } }])
})
afterAll(() => host.dispose())
beforeEach(() => host.settings({ advisor: ON }))

/**
 * One step, whose note is in the next request; a second step, about which the reviewer may have a word while the third is under
 * way; then the process is gone. Returns the folder of its session.
 */
async function crash(last: 'silent' | 'a note that is queued'): Promise<string> {
  await using server = await startLines()
  const { primary, reviewer } = server
  const kill = new AbortController()
  const run = host.run('Clean up the sources', { server, signal: kill.signal })
  primary.answer(0, toolCalls([bash('echo step 1')]))
  await primary.asked(1)
  reviewer.answer(0, advise(FILES, 'concern'))
  await reviewer.ended(0)
  primary.answer(1, toolCalls([bash('echo step 2')]))
  expect(notes(await primary.asked(2))).toEqual([`concern: ${FILES}`])
  await reviewer.asked(1)
  if (last === 'silent') {
    reviewer.answer(1, empty())
    // The third step is over, and on disk, when the fourth is asked for.
    primary.answer(2, toolCalls([bash('echo step 3')]))
    await primary.asked(3)
  } else {
    reviewer.answer(1, advise(PORT, 'concern'))
    await poll(() => readLog(host.sessions().at(-1)!).includes(PORT), () => 'the queue is not on disk', 20_000)
  }
  kill.abort('SIGKILL')
  expect(await run).toMatchObject({ signal: 'SIGKILL', stdout: '' })
  return host.sessions().at(-1)!
}

/** What a session's log holds on disk. */
function readLog(session: string): string {
  return readFileSync(join(session, 'session.jsonl'), 'utf8')
}

test('after a crash in mid-turn only the user starts the agent again, and the reviewer knows task and notes', async () => {
  const session = await crash('silent')
  await using server = await startLines({ primary: (_, index) => index === 0 ? toolCalls([bash('echo step 4')]) : text('answer') })
  const { primary, reviewer } = server
  reviewer.answer(0, advise('The files in `src/old` are still imported!', 'concern'))
  reviewer.answer(1, empty())
  expect(await resumeSession(host, session, 'Go on', { server })).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })

  expect(primary.requests).toHaveLength(2)
  expect(lastText(primary.requests[0])).toBe('Go on')
  // The reviewer repeats itself: that is not said again.
  expect(primary.requests.map(notes)).toEqual([[`concern: ${FILES}`], [`concern: ${FILES}`]])
  const shown = userTexts(reviewer.requests[0]).join('\n')
  expect(shown).toContain('The user\'s request:\n**user:** Clean up the sources')
  expect(shown).toContain(`- concern, delivered in an earlier run: ${FILES}`)
  expect(shown.match(/^## step [\d.]+$/gm)).toEqual(['## step 2.1'])
  expect(shown).not.toMatch(/echo step [123]/)
})

test('a note that the crash found in the host\'s queue enters with the user\'s next message; its reviewer knows, and cannot give it again', async () => {
  const session = await crash('a note that is queued')
  await using server = await startLines({
    primary: async (_, index) => {
      if (index === 1) await server.reviewer.ended(0)
      return index < 2 ? toolCalls([bash(`echo step ${4 + index}`)]) : text('answer')
    },
  })
  const { primary, reviewer } = server
  reviewer.answer(0, advise(PORT, 'concern'))
  reviewer.answer(1, empty())
  reviewer.answer(2, empty())
  expect(await resumeSession(host, session, 'Go on', { server })).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
  expect(primary.requests.map(notes)).toEqual(Array(3).fill([`concern: ${FILES}`, `concern: ${PORT}`]))
  expect(userTexts(reviewer.requests[0]).join('\n')).toContain(PORT)
})
