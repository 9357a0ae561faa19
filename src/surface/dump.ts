// `/advisor dump`: what every reviewer of the session has been shown and said, redacted, in a file of its own.

import type { GenerateOptions } from '@deepseek-ai/dsh-llm'
import type { CommandResult } from '@deepseek-ai/dsh-commands'
import { hideArguments, type Hider } from '../observe/hide.ts'
import { number } from '../record/figures.ts'
import { timeInName, writeNew } from '../record/new-file.ts'
import type { AdvisedSession } from '../session.ts'
import { count, truncate } from '../text.ts'
import { clipboardOf, copy, type Desktop } from './clipboard.ts'
import type { Call } from './command.ts'
import { advisorDump, type DumpForm } from './dump-text.ts'
import { stateWord, withReason } from './status.ts'

/** A service that only a terminal of this machine has, drawn by this process. */
const TERMINAL_SERVICE = 'tuiToast'

/** Write it, and say where it is. */
export async function dump({ session, ctx, clock, words }: Call): Promise<CommandResult> {
  const form: DumpForm | undefined = words === '' ? 'compact' : words.toLowerCase() === 'raw' ? 'raw' : undefined
  if (form === undefined) return { kind: 'error', text: `/advisor dump knows only \`raw\` as a further word; got "${truncate(words, 60)}".` }
  const transcripts = session.panel?.transcripts ?? []
  if (transcripts.every(({ request }) => request === undefined)) return { kind: 'success', text: nothingText(session) }
  const text = await dumpedText(session, form, clock.now())
  const messages = transcripts.reduce((sum, { request }) => sum + (request?.messages.length ?? 0), 0)
  const written = await writeNew(session.record.folder, `dump-${timeInName(clock.now())}`, '.md', text)
  if (written.kind === 'failed') return { kind: 'error', text: `The dump could not be written: ${written.reason}` }
  const desktop: Desktop = { platform: process.platform, env: process.env, atTerminal: ctx.get(TERMINAL_SERVICE) !== undefined }
  const uncopied = await copy(text, clipboardOf(desktop))
  return {
    kind: 'success', text: [
      `${written.path} (${number(Buffer.byteLength(text) / 1000, 1)} kB, ${count(messages, 'message')})`,
      uncopied === undefined ? 'copied to the clipboard' : `not copied: ${uncopied}`,
      ...written.instead === undefined ? [] : [`not in the session's folder: ${written.instead}`],
    ].join('; '),
  }
}

/** Redacted also where reviews are not: a dump is made to be passed on. */
async function dumpedText(session: AdvisedSession, form: DumpForm, at: number): Promise<string> {
  const { agent, panel, record } = session
  const hider = await session.hider({ ...session.resolve().config, redact: true })
  const standings = panel?.standings ?? []
  const parts = (panel?.transcripts ?? []).map(({ advisor, request }) => {
    const state = standings.find(({ advisor: { slug } }) => slug === advisor.slug)?.state
    const words = state === undefined ? 'off' : withReason(state.kind, 'reason' in state ? state.reason : undefined)
    return advisorDump({ name: advisor.name, state: words, request: hidden(request, hider) }, form)
  })
  const head = [
    `Session ${agent.id}, ${new Date(at).toISOString()}, ${form === 'raw' ? 'all that was sent' : 'what was shown and said'}`,
    `A reply that only says that all is well leaves no trace in a conversation; the journals in ${record.folder} have every reply.`,
  ].join('\n\n')
  return `${[head, ...parts].map(part => hider?.text(part) ?? part).join('\n\n')}\n`
}

/** What is secret in the arguments of a call stands escaped there. */
function hidden(request: GenerateOptions | undefined, hider: Hider | undefined): GenerateOptions | undefined {
  if (request === undefined || hider === undefined) return request
  return {
    ...request, messages: request.messages.map(message => ({
      ...message,
      content: message.content.map(block => block.type === 'tool-call' ? { ...block, arguments: hideArguments(block.arguments, hider) } : block),
    })),
  }
}

function nothingText(session: AdvisedSession): string {
  const { ledger, folder } = session.record
  const earlier = ledger.whole().counts.reviews > 0 ? ` What earlier reviews were shown and said stands in the journals in ${folder}.` : ''
  return `Nothing to dump yet: no reviewer at work has reviewed anything (${stateWord(session)}).${earlier}`
}
