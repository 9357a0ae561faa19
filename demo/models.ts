// The two scripted models. Each decides from the request alone, as a model does: without the note the agent stays wrong, and
// without a search that found nothing the reviewer stays silent.

import {
  adviseEach, empty, messageText, text, toolCalls, type ChatBody, type Script, type ToolCall,
} from '../tests/support/model-server.ts'
import { CODE, FAULTY, HELPER, INVENTED, RATES, RIGHT, TEST } from './sample.ts'

/** Milliseconds to the first byte: short for models, long enough that the order of events is plain. */
const AGENT_DELAY_MS = 350
const REVIEWER_DELAY_MS = 180

const read = (file: string): ToolCall => ({ name: 'read', arguments: { file_path: file } })
const edit = (from: string, to: string): ToolCall => (
  { name: 'edit', arguments: { file_path: CODE, old_string: from, new_string: to } }
)
const bash = (command: string, description: string): ToolCall => ({ name: 'bash', arguments: { command, description } })
const runTest = bash('node --test', 'Run the test')

/** The agent: looks, then relies on a function that it only believes to exist; with a note before it, it puts that right. */
export const agent: Script = ({ body }) => {
  const made = callsIn(body).map(keyOf)
  const has = (call: ToolCall) => made.includes(keyOf(call))
  const act = (say: string, ...calls: ToolCall[]) => toolCalls(calls, { text: say, delayMs: AGENT_DELAY_MS })
  const answer = (say: string) => text(say, { delayMs: AGENT_DELAY_MS })
  const invented = edit(FAULTY, INVENTED)
  const right = edit(INVENTED, RIGHT)

  if (made.length === 0) return act('I look at the code and run the test.', read(CODE), read(TEST), bash('ls; node --test', 'List the files, run the test'))
  if (!has(invented)) return act(`${RATES} has a helper for percentages, \`${HELPER}\`. I import it.`, invented)
  if (!isAdvised(body)) return answer(`Done: \`total\` in ${CODE} takes the discount through \`${HELPER}\` from ${RATES}.`)
  if (!has(right)) return act(`The note is right: \`${HELPER}\` does not exist. I compute the percentage here.`, right)
  if (made.at(-1) !== keyOf(runTest)) return act('I run the test.', runTest)
  const verdict = /\bfail 0\b/.test(messageText(body.messages.findLast(({ role }) => role === 'tool'))) ? 'passes' : 'still fails'
  return answer(`Done: \`total\` in ${CODE} takes the discount as a percentage. \`node --test\` ${verdict}.`)
}

/** The reviewer: sees an import of something it was never shown, searches for it, and speaks if the search finds nothing. */
export const reviewer: Script = ({ body }) => {
  const silence = empty({ delayMs: REVIEWER_DELAY_MS })
  const shown = body.messages.filter(({ role }) => role === 'user').map(messageText).join('\n')
  const [, name, file] = /^\+import \{ (\w+) \} from '\.\/([\w.]+)'/m.exec(shown) ?? []
  const made = callsIn(body)
  if (name === undefined || made.some(call => call.name === 'advise')) return silence
  const search = made.findIndex(call => call.name === 'grep')
  if (search < 0) return toolCalls([{ name: 'grep', arguments: { pattern: definitionOf(name) } }], { delayMs: REVIEWER_DELAY_MS })
  const [quote] = /^no matches in \d+ files/.exec(resultsIn(body)[search] ?? '') ?? []
  if (quote === undefined) return silence
  const note = `${CODE} now imports \`${name}\` from ${file}, but it does not exist: a search of the working folder for its definition found `
    + `"${quote}". The import fails as soon as the module is loaded. Compute the percentage in ${CODE}.`
  return adviseEach([{ note, severity: 'concern', evidence: { quote } }], { delayMs: REVIEWER_DELAY_MS })
}

/** What defines a name in JavaScript, as a regular expression. */
function definitionOf(name: string): string {
  return `(function|class|const|let|var) +${name}\\b`
}

function isAdvised(body: ChatBody): boolean {
  return body.messages.some(message => message.role === 'user' && /<advisory [^>]*>\n\[advisor:\w+\] /.test(messageText(message)))
}

/** The calls that the model made so far. */
function callsIn(body: ChatBody): ToolCall[] {
  return body.messages.flatMap(message => message.tool_calls ?? [])
    .map(call => ({ name: call.function.name, arguments: JSON.parse(call.function.arguments) as object }))
}

/** What came back from them, in their order. */
function resultsIn(body: ChatBody): string[] {
  const results = new Map(body.messages.filter(({ role }) => role === 'tool').map(message => [message.tool_call_id, messageText(message)]))
  return body.messages.flatMap(message => message.tool_calls ?? []).map(call => results.get(call.id) ?? '')
}

function keyOf(call: ToolCall): string {
  return JSON.stringify(call)
}
