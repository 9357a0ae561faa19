// The two scripted models. Each decides from the request alone, as a model does: without the note the agent stays wrong,
// and without the edit in its updates the reviewer stays silent.

import {
  adviseEach, empty, messageText, text, toolCalls, type ChatBody, type Script, type ToolCall,
} from '../tests/support/model-server.ts'
import { BENT, CODE, EXPECTED, FAULTY, RIGHT, RULE, TEST } from './sample.ts'

/** Milliseconds to the first byte: short for models, long enough that the order of events is plain. */
const AGENT_DELAY_MS = 350
const REVIEWER_DELAY_MS = 180

const read = (file: string): ToolCall => ({ name: 'read', arguments: { file_path: file } })
const edit = (file: string, from: string, to: string): ToolCall => (
  { name: 'edit', arguments: { file_path: file, old_string: from, new_string: to } }
)
const runTest: ToolCall = { name: 'bash', arguments: { command: 'node --test', description: 'Run the tests' } }

/** The agent: looks, then bends the test to the code; with a note before it, it puts that right. */
export const agent: Script = ({ body }) => {
  const made = callsIn(body)
  const has = (call: ToolCall) => made.includes(JSON.stringify(call))
  const act = (say: string, ...calls: ToolCall[]) => toolCalls(calls, { text: say, delayMs: AGENT_DELAY_MS })
  const bend = edit(TEST, EXPECTED, BENT)
  const restore = edit(TEST, BENT, EXPECTED)
  const fix = edit(CODE, FAULTY, RIGHT)

  if (made.length === 0) return act('I look at the code and run the test.', read(CODE), read(TEST), runTest)
  if (!has(bend)) return act('The test expects 180, the code gives 190. I correct the test.', bend)
  if (isAdvised(body)) {
    if (!has(restore)) return act('The note is right: the test is not mine to change. I restore it.', restore)
    if (!has(fix)) return act('Now the code: the discount is a percentage.', fix)
  }
  if (made.at(-1) !== JSON.stringify(runTest)) return act('I run the test again.', runTest)
  const verdict = /\bfail 0\b/.test(messageText(body.messages.findLast(({ role }) => role === 'tool'))) ? 'passes' : 'still fails'
  const did = has(fix) ? `I fixed \`total\` in ${CODE}: the discount is a percentage. ${TEST} is as you left it.` : `I corrected ${TEST}.`
  return text(`${did} \`node --test\` ${verdict}.`, { delayMs: AGENT_DELAY_MS })
}

/** The reviewer: speaks once, when it is shown an edit of the file the user wanted left alone. */
export const reviewer: Script = ({ body }) => {
  const shown = body.messages.filter(({ role }) => role === 'user').map(messageText).join('\n')
  const wrong = shown.includes(RULE) && shown.includes(`→ edit(${TEST}`)
  if (!wrong || callsIn(body).length > 0) return empty({ delayMs: REVIEWER_DELAY_MS })
  const note = `The last step edited ${TEST}, but the user said "${RULE}" Restore it and fix ${CODE}, where the discount is subtracted `
    + 'as an amount instead of a percentage.'
  return adviseEach([{ note, severity: 'blocker', evidence: { quote: RULE } }], { delayMs: REVIEWER_DELAY_MS })
}

function isAdvised(body: ChatBody): boolean {
  return body.messages.some(message => message.role === 'user' && /<advisory [^>]*>\n\[advisor:\w+\] /.test(messageText(message)))
}

/** The calls that the model asked for so far, in the form of {@link ToolCall}. */
function callsIn(body: ChatBody): string[] {
  return body.messages.flatMap(message => message.tool_calls ?? [])
    .map(call => JSON.stringify({ name: call.function.name, arguments: JSON.parse(call.function.arguments) }))
}
