// What reviewers are told by WATCHDOG files, as one text within one bound. Pure: texts come in with their imports expanded.

import { escapeXml, printable } from '../text.ts'

/** Bytes of guidance in a prompt, of all files together. */
export const GUIDANCE_LIMIT = 24_000

/** Of those, what the user's own files keep however much a project has to say. */
export const OWN_SHARE = 8_000

/** Less of a file than this is not worth its frame. */
const LEAST_PART = 200

/** Names of the blocks that stand in a reviewer's prompt, which no file may open or close. */
const FRAMES = /<(?=\s*\/?\s*(?:attention|advisory|primary-context|instructions)\b)/gi

export interface Part {
  readonly kind: 'attention' | 'instructions'
  /** The file, as the user knows it. */
  readonly label: string
  readonly scope: 'user' | 'project'
  readonly text: string
}

/**
 * Compose the guidance.
 * @param parts - the user's first, then the project's from far to near.
 * @returns attention blocks, then shared instructions, each in the order given. Over the limit a project's far files are cut
 *   first, then its near ones, as long as they leave the user's own less than {@link OWN_SHARE}.
 */
export function composeGuidance(parts: readonly Part[]): { readonly text: string, readonly trouble: readonly string[] } {
  const filled = parts.map(part => ({ ...part, text: harmless(part.text) })).filter(part => part.text !== '')
  const own = filled.filter(part => part.scope === 'user')
  const project = filled.filter(part => part.scope === 'project').reverse()
  const reserved = Math.min(OWN_SHARE, total(own))
  const near = fit(project, GUIDANCE_LIMIT - reserved)
  const user = fit(own, GUIDANCE_LIMIT - near.used)
  const kept = [...user.kept, ...near.kept.reverse()]
  return {
    text: [...kept.filter(part => part.kind === 'attention'), ...kept.filter(part => part.kind === 'instructions')].map(render).join('\n\n'),
    trouble: [...user.trouble, ...near.trouble.reverse()],
  }
}

/** Text of a file that cannot pose as a part of the prompt around it: printable, its frames' brackets escaped, the rest as written. */
export function harmless(text: string): string {
  return printable(text).replace(FRAMES, '&lt;').trim()
}

/**
 * Cut a text to bytes, at a line's end where one is near, and say so in it.
 * @param already - it was cut before, which still has to be said.
 */
export function cutAfter(text: string, limit: number, already = false): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit && !already) return text
  const label = '\n[… the rest was left out …]'
  const room = Math.max(0, Math.min(bytes.length, limit - Buffer.byteLength(label)))
  const head = new TextDecoder().decode(bytes.subarray(0, room), { stream: true })
  const lineEnd = head.lastIndexOf('\n')
  return (lineEnd > head.length * 0.8 ? head.slice(0, lineEnd) : head) + label
}

/** Fill a room with parts, the first first. */
function fit(parts: readonly Part[], room: number): { kept: Part[], used: number, trouble: string[] } {
  const kept: Part[] = []
  const trouble: string[] = []
  let used = 0
  for (const part of parts) {
    const left = room - used
    const whole = cost(part)
    if (whole <= left) kept.push(part)
    else {
      const frame = whole - Buffer.byteLength(part.text)
      const text = left - frame >= LEAST_PART ? cutAfter(part.text, left - frame) : ''
      if (text !== '') kept.push({ ...part, text })
      trouble.push(`${part.label}: ${text === '' ? 'left out' : 'cut'}: all guidance together may hold ${GUIDANCE_LIMIT / 1000} kB, and nearer files come first`)
      if (text === '') continue
    }
    used += cost(kept.at(-1)!)
  }
  return { kept, used, trouble }
}

function total(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + cost(part), 0)
}

/** Bytes of a part with its frame and the empty line behind it. */
function cost(part: Part): number {
  return Buffer.byteLength(render(part)) + 2
}

function render(part: Part): string {
  if (part.kind === 'instructions') return part.text
  return `<attention file="${escapeXml(part.label)}">\n${part.text}\n</attention>`
}
