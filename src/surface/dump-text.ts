// A reviewer's private conversation as a page to read. Only words for what stands in it.

import type { ContentBlock, GenerateOptions, Message, ToolCallBlock } from '@deepseek-ai/dsh-llm'
import { reasoningOf, textOf } from '../observe/entry.ts'
import { renderArguments } from '../observe/markdown.ts'
import { ADVISE_TOOL } from '../review/prompt.ts'
import { truncate } from '../text.ts'

/** What was shown and said, or all that was sent: system prompt, tools, reasoning and calls too. */
export type DumpForm = 'compact' | 'raw'

export interface DumpedAdvisor {
  /** None for the one advisor without a roster. */
  readonly name: string | undefined
  /** How it stands, in words. */
  readonly state: string
  /** As its next request would be; none before its first review. */
  readonly request: GenerateOptions | undefined
}

/** Characters of a result in the line of its call. */
const RESULT_LINE = 160

/** One advisor's part of a dump. */
export function advisorDump({ name, state, request }: DumpedAdvisor, form: DumpForm): string {
  const heading = name === undefined ? '# The advisor' : `# Advisor ${name}`
  if (request === undefined) return `${heading}\n\nState: ${state}\n\nNothing yet: it has reviewed nothing.`
  const { provider, model, reasoningEffort, messages } = request
  const facts = [`Model: ${provider}/${model}${reasoningEffort === undefined ? '' : `, effort ${reasoningEffort}`}`, `State: ${state}`, `Messages: ${messages.length}`]
  const body = form === 'raw' ? raw(request) : compact(messages)
  return [heading, facts.join('  \n'), ...body.length === 0 ? ['Nothing stands in its conversation now.'] : body].join('\n\n')
}

function compact(messages: readonly Message[]): string[] {
  return messages.flatMap((message, index) => {
    if (isReply(message)) return reply(message, answersBehind(messages.slice(index + 1)))
    // One message a source message: what was shown together is read together.
    if (!isShown(message) || isShown(messages[index - 1])) return []
    return ['## Shown', fence(leading(messages.slice(index), isShown).map(({ content }) => textOf(content)).join('\n\n'))]
  })
}

function reply({ content }: Message, answers: ReadonlyMap<string, string>): string[] {
  const text = textOf(content.filter(block => block.type === 'text')).trim()
  const calls = content.filter((block): block is ToolCallBlock => block.type === 'tool-call').map(call => callLine(call, answers.get(call.id)))
  return ['## Said', ...text === '' ? [] : [fence(text)], ...calls.length === 0 ? [] : [calls.join('\n')]]
}

function callLine(call: ToolCallBlock, answer: string | undefined): string {
  const result = answer === undefined ? 'no result' : truncate(oneLine(answer.trim()), RESULT_LINE)
  return `- ${call.name === ADVISE_TOOL.name ? adviceLine(call.arguments) : `${call.name}(${renderArguments(call.arguments, undefined)})`} → ${result}`
}

/** The whole note, for that is what was said. */
function adviceLine(json: string): string {
  try {
    const { note, severity, evidence } = JSON.parse(json) as Record<string, unknown>
    const proof = evidence === undefined ? '' : ` (evidence: ${oneLine(JSON.stringify(evidence))})`
    return `advise, ${typeof severity === 'string' ? severity : 'no severity'}: ${oneLine(String(note))}${proof}`
  } catch {
    return `advise(${oneLine(json)})`
  }
}

function raw({ system, tools, messages, maxTokens }: GenerateOptions): string[] {
  return [
    ...maxTokens === undefined ? [] : [`At most ${maxTokens} tokens a reply`],
    ...system === undefined ? [] : ['## System prompt', fence(system)],
    ...tools === undefined ? [] : ['## Tools', fence(JSON.stringify(tools, undefined, 2), 'json')],
    ...messages.flatMap((message, index) => [`## Message ${index + 1}: ${roleOf(message)}`, ...message.content.flatMap(block => rawBlock(block))]),
  ]
}

function roleOf(message: Message): string {
  return isReply(message) ? 'the reviewer' : isShown(message) ? 'shown to the reviewer' : 'result of a call'
}

function rawBlock(block: ContentBlock): string[] {
  switch (block.type) {
    case 'text': return [fence(block.text)]
    case 'reasoning': return ['Reasoning:', fence(reasoningOf([block]))]
    case 'tool-call': return [`Call \`${block.name}\` (${block.id}):`, fence(block.arguments, 'json')]
    case 'tool-result': return [`Result of ${block.toolCallId}${block.isError === true ? ', failed' : ''}:`, fence(textOf(block.content))]
    default: return [`[${block.type}]`]
  }
}

/** Results that follow a reply, by call: some providers give the same ids in every reply. */
function answersBehind(messages: readonly Message[]): ReadonlyMap<string, string> {
  const results = leading(messages, message => !isReply(message) && !isShown(message))
  return new Map(results.flatMap(({ content }) => content).flatMap((block: ContentBlock) => (
    block.type === 'tool-result' ? [[String(block.toolCallId), textOf(block.content)] as const] : []
  )))
}

function leading(messages: readonly Message[], belongs: (message: Message) => boolean): readonly Message[] {
  const end = messages.findIndex(message => !belongs(message))
  return end < 0 ? messages : messages.slice(0, end)
}

function isReply({ role }: Message): boolean {
  return role === 'assistant'
}

function isShown(message: Message | undefined): boolean {
  return message?.role === 'user' && !message.content.some(block => block.type === 'tool-result')
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ⏎ ')
}

/** A text in a fence that nothing in it can close. */
function fence(text: string, language = ''): string {
  let longest = 2
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const marks = '`'.repeat(longest + 1)
  return `${marks}${language}\n${text}\n${marks}`
}
