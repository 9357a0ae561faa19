// A provider in this process that answers at once and copies nothing, so that what is timed is not the double.

import { CallId, LlmAdapter } from '@deepseek-ai/dsh-llm'
import type { ContentBlock, GenerateOptions, LlmModelInfo, LlmResolvedModelInfo, StreamChunk } from '@deepseek-ai/dsh-llm'

export const PROVIDER = 'fast'

/** What a model says: nothing, some text, or one tool call. */
export type Say =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text', readonly text: string }
  | { readonly kind: 'call', readonly name: string, readonly args: object }

/** One model of the provider; called when its request goes out. */
export type Speaker = (options: GenerateOptions) => Say | Promise<Say>

export class FastAdapter extends LlmAdapter {
  private readonly speakers: Readonly<Record<string, Speaker>>
  private calls = 0

  constructor(speakers: Readonly<Record<string, Speaker>>) {
    super()
    this.speakers = speakers
  }

  override async listModels(provider: string): Promise<readonly LlmModelInfo[]> {
    return Object.keys(this.speakers).map(id => ({ provider, id, name: id }))
  }

  override async resolveModel(provider: string, model: string): Promise<LlmResolvedModelInfo> {
    return { provider, id: model, name: model }
  }

  async * stream(options: GenerateOptions): AsyncGenerator<StreamChunk> {
    const asked = this.speakers[options.model]?.(options) ?? { kind: 'nothing' }
    const say = asked instanceof Promise ? await asked : asked
    yield { type: 'usage', usage: { inputTokens: 100, outputTokens: 10 } }
    if (say.kind === 'nothing') {
      yield { type: 'finish', reason: { kind: 'error', failure: { code: 'EMPTY_RESPONSE', message: 'no content' } } }
      return
    }
    const block: ContentBlock = say.kind === 'text'
      ? { type: 'text', text: say.text }
      : { type: 'tool-call', id: CallId(`call-${this.calls++}`), name: say.name, arguments: JSON.stringify(say.args) }
    yield { type: 'block-start', index: 0, blockType: block.type }
    if (block.type === 'text') yield { type: 'text-delta', index: 0, text: block.text }
    else yield { type: 'tool-call-delta', index: 0, id: block.id, name: block.name, argumentsDelta: block.arguments }
    yield { type: 'block-end', index: 0, block }
    yield { type: 'finish', reason: { kind: say.kind === 'call' ? 'tool-calls' : 'stop' } }
  }
}
