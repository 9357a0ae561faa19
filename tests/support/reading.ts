/** Reading what a loop recorded: the texts that a model was shown, and the shape of a session log. */
import type { ContentBlock, GenerateOptions } from '@deepseek-ai/dsh-llm'
import type { SessionEvent } from '@deepseek-ai/dsh-session'

/** The text of every user message, oldest first. Messages without text, such as tool results, are left out. */
export function userTexts(request: GenerateOptions): string[] {
  return request.messages
    .filter(message => message.role === 'user')
    .map(message => textOf(message.content))
    .filter(value => value !== '')
}

/** The text of every tool result, oldest first. */
export function toolTexts(request: GenerateOptions): string[] {
  return request.messages
    .flatMap(message => message.content)
    .flatMap(block => block.type === 'tool-result' ? [textOf(block.content)] : [])
}

/** The system prompt, with system messages after it. */
export function systemText(request: GenerateOptions): string {
  const messages = request.messages.filter(message => message.role === 'system').map(message => textOf(message.content))
  return [request.system ?? '', ...messages].filter(value => value !== '').join('\n\n')
}

/** The names of the tools on offer. */
export function toolNames(request: GenerateOptions): string[] {
  return (request.tools ?? []).map(schema => schema.name)
}

/** The text blocks of a content, joined by newlines. */
export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap(block => block.type === 'text' ? [block.text] : []).join('\n')
}

/** The types of a log's events in order, without the stream chunks. */
export function eventTypes(events: readonly SessionEvent[]): string[] {
  return events.map(event => event.type).filter(type => type !== 'assistant/chunk')
}
