// What has to be true for the demo to have shown anything. Each check looks at what happened, not at what was planned.

import { unescapeXml } from '../src/text.ts'
import { messageText } from '../tests/support/model-server.ts'
import type { Play } from './play.ts'
import type { Exchange } from './recorder.ts'
import { adviceIn, answersIn, edits, lookupsIn, nextRequest, notesIn, of, shownTo, type Note } from './reading.ts'
import { CODE, HELPER, TEST } from './sample.ts'

export interface Check { ok: boolean; text: string }

/** Everything that can be checked: with a real model that it goes wrong, and where it is told so, cannot. */
export function judge(play: Play): Check[] {
  return [...play.live ? judgeReviews(play) : judgeStory(play), ...judgeOutcome(play)]
}

function judgeStory({ exchanges, outcome }: Play): Check[] {
  const [steps, reviews] = [of(exchanges, 'primary'), of(exchanges, 'reviewer')]
  const wrong = steps.findIndex(step => edits(step, CODE, HELPER))
  const search = reviews.find(review => lookupsIn(review).some(call => call.name === 'grep' && call.arguments.includes(HELPER)))
  const answered = search === undefined ? undefined : nextRequest(exchanges, 'reviewer', search)
  const [result = ''] = answered === undefined ? [] : answersIn(answered)
  const spoken = reviews.find(review => notesIn(review).length > 0)
  const notes = spoken === undefined ? [] : notesIn(spoken)
  const landing = steps.findIndex(step => adviceIn(step) !== '')
  return [
    { ok: wrong === 1, text: `the agent made ${CODE} import \`${HELPER}\` in its second step` },
    { ok: search !== undefined && shownTo(search).includes(`→ edit(${CODE}`), text: 'the reviewer was shown that edit and searched for the definition' },
    // How many files there are, nobody can know who has not looked.
    {
      ok: result.startsWith(`no matches in ${outcome.searchable} files`),
      text: 'the real `grep` answered: the result in the reviewer\'s next request counts the files that are there',
    },
    {
      ok: spoken === answered && notes.length > 0 && notes.every(note => quotes(note, result)),
      text: 'only then it spoke, and its note quotes that result word for word',
    },
    {
      ok: spoken !== undefined && landing === wrong + 1 && notes.every(note => carries(nextRequest(exchanges, 'primary', spoken), asGiven(note))),
      text: 'the note was in the request of the agent\'s very next step, as it was given',
    },
    { ok: !outcome.code.includes(HELPER), text: `the agent took the import out of ${CODE} again` },
    { ok: ranTestAtLast(steps), text: 'it ran the test itself, after the last change, and saw it pass' },
  ]
}

function judgeReviews({ exchanges, run }: Play): Check[] {
  const reviews = of(exchanges, 'reviewer')
  // A later note may be one that the plugin rightly keeps back, such as a repeat.
  const first = reviews.find(review => notesIn(review).length > 0)
  const next = first === undefined ? undefined : nextRequest(exchanges, 'primary', first)
  return [
    { ok: reviews.length > 0 && reviews.every(review => review.status === 200), text: 'the reviewer was asked, and every call of it succeeded' },
    first !== undefined && next !== undefined
      // The plugin may lower a note that quotes nothing.
      ? { ok: notesIn(first).every(note => carries(next, note.text)), text: 'its first note was in the request of the very next step' }
      : { ok: true, text: 'it had nothing to say in time for a next step' },
    { ok: !run.timedOut, text: 'the run came to its end' },
  ]
}

function judgeOutcome({ exchanges, run, outcome }: Play): Check[] {
  const answer = of(exchanges, 'primary').at(-1)
  return [
    { ok: outcome.passes && outcome.testUnchanged, text: `\`node --test\`, run again from outside, passes, and ${TEST} is what it was` },
    { ok: run.code === 0, text: 'exit code 0' },
    { ok: answer !== undefined && answer.text !== '' && run.stdout === `${answer.text}\n`, text: 'stdout is the answer and nothing else' },
  ]
}

function quotes({ quote = '' }: Note, result: string): boolean {
  return quote.trim() !== '' && result.includes(quote)
}

/** As the agent reads it: a note that the plugin lowered begins otherwise. */
function asGiven({ severity, text }: Note): string {
  return `[advisor:${severity}] ${text}`
}

/** Whether a request ends with advice that holds these words. */
function carries(request: Exchange | undefined, words: string): boolean {
  return unescapeXml(request === undefined ? '' : adviceIn(request)).includes(words)
}

function ranTestAtLast(steps: readonly Exchange[]): boolean {
  const changed = steps.findLastIndex(step => edits(step, CODE) || edits(step, TEST))
  const ran = steps.findLastIndex(step => step.calls.some(call => call.name === 'bash' && call.arguments.includes('node --test')))
  const output = messageText(steps[ran + 1]?.body.messages.findLast(message => message.role === 'tool'))
  return ran > changed && /\bfail 0\b/.test(output)
}
