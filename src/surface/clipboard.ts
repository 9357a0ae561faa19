// The user's clipboard, where it is sure to be this machine's: through the desktop's own tool. Nothing is written to a
// terminal, which belongs to the front end.

import { spawn } from 'node:child_process'

export interface Desktop {
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user sits at a terminal that this process draws. */
  readonly atTerminal: boolean
}

export type Clipboard =
  /** Tools in the order in which they are tried. */
  | { readonly kind: 'tools', readonly tools: readonly (readonly [command: string, ...args: string[]])[] }
  | { readonly kind: 'none', readonly reason: string }

/** Milliseconds for one tool. */
const COPY_MS = 2_000

/** How to reach the user's clipboard. A page or a client may be anywhere, and so may be the other end of a remote login. */
export function clipboardOf({ platform, env, atTerminal }: Desktop): Clipboard {
  if (!atTerminal) return { kind: 'none', reason: 'this front end has no clipboard for it' }
  if (env.SSH_CONNECTION || env.SSH_TTY) return { kind: 'none', reason: 'the clipboard is on another machine' }
  if (platform === 'darwin') return { kind: 'tools', tools: [['pbcopy']] }
  const tools = platform !== 'linux' ? [] : [
    ...env.WAYLAND_DISPLAY ? [['wl-copy'] as const] : [],
    ...env.DISPLAY ? [['xclip', '-selection', 'clipboard'] as const, ['xsel', '--clipboard', '--input'] as const] : [],
  ]
  return tools.length === 0 ? { kind: 'none', reason: 'no desktop was found' } : { kind: 'tools', tools }
}

/** Copy a text. Returns why it could not be, or undefined. Never throws. */
export async function copy(text: string, clipboard: Clipboard): Promise<string | undefined> {
  if (clipboard.kind === 'none') return clipboard.reason
  for (const [command, ...args] of clipboard.tools) if (await feed(command, args, text)) return undefined
  return `${clipboard.tools.map(([command]) => command).join(' and ')} failed or ${clipboard.tools.length === 1 ? 'is' : 'are'} missing`
}

/** Whether a tool took the whole text. Some go on in the background, so that only their first exit counts. */
function feed(command: string, args: readonly string[], text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'ignore'], timeout: COPY_MS, killSignal: 'SIGKILL' })
    child.on('error', () => resolve(false))
    child.on('exit', code => resolve(code === 0))
    child.stdin.on('error', () => resolve(false))
    child.stdin.end(text)
  })
}
