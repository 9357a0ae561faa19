// Whether a reply may be used at all. Judges what the reviewer said and what it wrote into its calls, never its reasoning;
// what it was shown, it may quote.

import type { AssistantMessage, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import evidence from '../prompts/evidence.md'
import looking from '../prompts/looking.md'
import protocolFrame from '../prompts/protocol-frame.md'
import protocolTools from '../prompts/protocol-tools.md'
import protocol from '../prompts/protocol.md'
import stance from '../prompts/stance.md'
import { HAZARDS, type Hazard } from './hazards.ts'
import { ADVISE_TOOL } from './prompt.ts'
import { readFrame, spokenText } from './reply.ts'
import { pack, substance, type Seen } from './seen.ts'

export { judgeAdvice, type AdviceJudgement } from './advice.ts'

export type Judgement =
  | { readonly kind: 'safe' }
  /** `reason` is told to the user. */
  | { readonly kind: 'unsafe', readonly reason: string }

interface Part {
  readonly text: string
  /** It would reach the agent. */
  readonly isNote: boolean
}

/** So often the same line, or the same words in a row, is no writing. */
const REPETITIONS = 24
/** Longest run of words that counts as the same words, and least letters of a line. */
const LONGEST_PERIOD = 24
const LEAST_LINE = 6
/** So many different marks of one kind are not quotations any more. */
const QUOTED_LIMIT = 40
/** Characters of a reply that are looked at for repetition. */
const REPETITION_LOOKED_AT = 100_000
/** Letters of our own prompts, in whole sentences, that are a leak: in a note, and in text that reaches nobody. */
const LEAK_IN_NOTE = 50
const LEAK_IN_TEXT = 250

/**
 * Whether the whole reply must be thrown away.
 * @param seen - what the reviewer was shown: what stands there may be quoted.
 */
export function judgeReply(message: Pick<AssistantMessage, 'content'>, seen: Pick<Seen, 'has'>): Judgement {
  for (const part of partsOf(message)) {
    const reason = hazardIn(part, seen) ?? transcriptIn(part.text, seen) ?? repetitionIn(part.text, seen) ?? leakIn(part, seen)
    if (reason !== undefined) return { kind: 'unsafe', reason }
  }
  return { kind: 'safe' }
}

/** Everything that could reach anybody. Calls that only look reach nobody, and may look for any of this. */
function partsOf({ content }: Pick<AssistantMessage, 'content'>): Part[] {
  const text = spokenText(content)
  const calls = content.filter((block): block is ToolCallBlock => block.type === 'tool-call' && block.name === ADVISE_TOOL.name)
  const framed = readFrame(text)
  return [
    { text: unescaped(text), isNote: false },
    ...framed === undefined ? [] : [{ text: framed.note, isNote: true }],
    ...calls.flatMap(call => stringsIn(call.arguments)).map(said => ({ text: said, isNote: true })),
  ]
}

/** All strings in the arguments of a call; of broken ones, the text. */
function stringsIn(json: string): string[] {
  const strings: string[] = []
  try {
    JSON.parse(json, (_, value: unknown) => {
      if (typeof value === 'string') strings.push(value)
      return null
    })
  } catch {
    return [unescaped(json)]
  }
  return strings
}

/** A text that may hold JSON, with its escapes read. */
function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|([nrt"/\\]))/gi, (_, code: string | undefined, char: string) => (
    code === undefined ? { n: '\n', r: '\r', t: '\t' }[char] ?? char : String.fromCharCode(parseInt(code, 16))
  ))
}

function hazardIn({ text, isNote }: Part, seen: Pick<Seen, 'has'>): string | undefined {
  return HAZARDS.find(hazard => (isNote || hazard.onlyInNotes !== true) && isOwn(hazard, text, seen))?.reason
}

/** Whether a hazard stands in a text and comes from the reviewer itself. */
function isOwn({ pattern, kin = [] }: Hazard, text: string, seen: Pick<Seen, 'has'>): boolean {
  const found = new Set([...text.matchAll(pattern)].map(([match]) => match))
  return (found.size > QUOTED_LIMIT || [...found].some(match => !seen.has(match))) && !kin.some(word => seen.has(word))
}

/** A line that opens as a speaker's part. */
const SPEAKER = /^[ \t>]*(?:#+ |\*\*)?(human|user|assistant|system|agent|ai|用户|人类|助手|系统|ユーザー|アシスタント|システム)(?:\*\*)?[ \t]*[:：][^\n]*/gim
/** How base models begin the part of the one they talk with. */
const NEXT_SPEAKER = /(?:^|\n)(?:Human|人类)[ \t]*[:：]/

function transcriptIn(text: string, seen: Pick<Seen, 'has'>): string | undefined {
  const own = [...text.matchAll(SPEAKER)].slice(0, QUOTED_LIMIT).filter(([line]) => !seen.has(line))
  const speakers = new Set(own.map(([, speaker]) => speaker?.toLowerCase()))
  return speakers.size > 1 || own.some(([line]) => NEXT_SPEAKER.test(line)) ? 'an invented transcript' : undefined
}

function repetitionIn(text: string, seen: Pick<Seen, 'has'>): string | undefined {
  const looked = text.slice(0, REPETITION_LOOKED_AT)
  return (repeatsLine(looked) || repeatsWords(looked)) && !seen.has(text) ? 'the same words over and over' : undefined
}

function repeatsLine(text: string): boolean {
  const times = new Map<string, number>()
  for (const line of text.split('\n')) {
    const key = line.trim()
    if (key === '' || substance(key) < LEAST_LINE) continue
    const count = (times.get(key) ?? 0) + 1
    if (count >= REPETITIONS) return true
    times.set(key, count)
  }
  return false
}

const UNITS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu

function repeatsWords(text: string): boolean {
  const units = text.toLowerCase().match(UNITS) ?? []
  for (let period = 1; period <= LONGEST_PERIOD; period += 1) {
    let run = 0
    for (let index = period; index < units.length; index += 1) {
      run = units[index] === units[index - period] ? run + 1 : 0
      // A row of numbers is data.
      if (run >= period * (REPETITIONS - 1) && units.slice(index - period, index).some(unit => /\p{L}/u.test(unit))) return true
    }
  }
  return false
}

/** Sentences of our prompts that nobody writes by chance. */
const PROMPT_SENTENCES = [stance, protocol, protocolTools, protocolFrame, looking, evidence]
  .flatMap(prompt => prompt.split(/(?<=[.;:])\s+|\n+|\{\{\w+\}\}/))
  .map(pack).filter(sentence => substance(sentence) >= LEAK_IN_NOTE)

function leakIn({ text, isNote }: Part, seen: Pick<Seen, 'has'>): string | undefined {
  const packed = pack(text)
  const leaked = PROMPT_SENTENCES.filter(sentence => packed.includes(sentence) && !seen.has(sentence))
  const letters = leaked.reduce((sum, sentence) => sum + substance(sentence), 0)
  return letters >= (isNote ? LEAK_IN_NOTE : LEAK_IN_TEXT) ? 'its own instructions' : undefined
}
