// Where the bytes of one reviewer request go: what is paid once, what each step adds, and what of it is framing.

import { messageText, type ModelRequest } from '../tests/support/model-server.ts'
import { bytesOf, sum } from './measure.ts'
import { number, percent, printTable } from './table.ts'

/** The host's `read` numbers the lines of a file. */
const NUMBERED = /^\d+: /

export interface Breakdown {
  /** System text and tools, in bytes: the same in every request. */
  readonly fixed: number
  /** Bytes of a step's own framing, its call line included and left out. */
  readonly framing: number
  readonly framingWithoutCall: number
}

/** Print where the bytes of the last request go. `steps` is the number of tool steps it shows. */
export function printBreakdown(request: ModelRequest, steps: number): Breakdown {
  const { messages, tools = [], ...parameters } = request.body
  const [system, ...shown] = messages
  const texts = shown.map(messageText)
  const isStep = (text: string) => text.split('\n').some(line => NUMBERED.test(line))
  const stepTexts = texts.filter(isStep)
  const other = texts.filter(text => !isStep(text))
  const lines = stepTexts.flatMap(text => text.split('\n').map((line, index, all) => ({ line, ends: index < all.length - 1 })))
  const payload = sum(lines.filter(({ line }) => NUMBERED.test(line)).map(({ line, ends }) => bytesOf(line) + Number(ends)))
  const numbering = sum(lines.map(({ line }) => NUMBERED.exec(line)?.[0].length ?? 0))
  const framing = sum(stepTexts.map(bytesOf)) - payload
  const contents = sum(texts.map(bytesOf))
  const escaped = sum(texts.map(text => bytesOf(JSON.stringify(text)) - 2))
  const whole = bytesOf(request.bodyText)
  const row = (part: string, bytes: number, perStep?: number) =>
    [part, bytes, percent(bytes / whole, 1), perStep === undefined ? undefined : number(perStep, 1)]
  const systemBytes = bytesOf(JSON.stringify(system))
  const toolBytes = bytesOf(JSON.stringify(tools))
  const wrappers = sum(shown.map(message => bytesOf(JSON.stringify(message)))) - escaped + shown.length
  const wrapper = wrappers / shown.length
  printTable(`bytes of the reviewer's last request, ${steps} tool steps`, ['part', 'bytes', 'share', 'a step'], [
    row('system text', systemBytes),
    row('tools', toolBytes),
    row('model, limits and the like', bytesOf(JSON.stringify(parameters))),
    row('task, folder, context and answer', sum(other.map(bytesOf))),
    row('steps: the files\' own bytes', payload - numbering, (payload - numbering) / stepTexts.length),
    row('steps: line numbers of the host\'s read', numbering, numbering / stepTexts.length),
    row('steps: framing', framing, framing / stepTexts.length),
    row('JSON: one message a source message', wrappers, wrapper),
    row('JSON: escapes', escaped - contents, (escaped - contents) / texts.length),
    row('whole body', whole),
  ])
  const kinds = Map.groupBy(lines.filter(({ line }) => !NUMBERED.test(line)), ({ line }) => line.replace(/\d+/g, 'N'))
  printTable('framing lines of the steps', ['line', 'count', 'bytes in all'],
    [...kinds].map(([kind, found]) => [kind, found.length, sum(found.map(({ line, ends }) => bytesOf(line) + Number(ends)))]))
  const calls = sum(lines.filter(({ line }) => line.startsWith('→ ')).map(({ line }) => bytesOf(line) + 1))
  return {
    fixed: systemBytes + toolBytes,
    framing: framing / stepTexts.length, framingWithoutCall: (framing - calls) / stepTexts.length,
  }
}
