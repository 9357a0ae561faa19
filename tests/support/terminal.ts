// A program in a terminal of its own, driven as a user does: keys in, screen out. tmux is the terminal; where it is missing, tests
// that need one are left out by name.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'

const COLUMNS = 130
const ROWS = 45
/** Long enough for a host that boots on a busy machine. */
const WAIT = { timeout: 40_000, interval: 40 }

/** Why tests in a terminal are left out, or nothing. */
export const missingTerminal = spawnSync('tmux', ['-V']).error === undefined ? undefined : 'tmux is not installed'

export interface Program {
  command: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
}

export interface Terminal extends AsyncDisposable {
  /** What stands on the screen, without trailing blanks. */
  screen(): string
  /**
   * Waits for a text to be on the screen, and returns the screen.
   * @throws Error with the screen when it does not come.
   */
  see(text: string | RegExp): Promise<string>
  /** Types a text as it is, then waits for what must follow on the screen; by default the text itself. */
  type(text: string, then?: string | RegExp): Promise<string>
  /** Presses a key by its tmux name, then waits for what must follow: two keys at once would act on the focus before the first. */
  press(key: string, then: string | RegExp): Promise<string>
  /** Ends the program and everything it started. */
  stop(): Promise<void>
}

/** Starts a program in a new terminal. */
export function startTerminal({ command, cwd, env }: Program): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'dsh-advisor-tmux-'))
  // A server of its own: neither the user's sessions nor their configuration are touched.
  const tmux = (...args: string[]) => execFileSync('tmux', ['-S', join(folder, 'socket'), '-f', '/dev/null', '-u', ...args], {
    encoding: 'utf8', env: { ...env, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' }, stdio: ['ignore', 'pipe', 'pipe'],
  })
  // The screen of a program that died is still to be read.
  tmux('start-server', ';', 'set', '-g', 'remain-on-exit', 'on', ';', 'new-session', '-d', '-x', String(COLUMNS), '-y', String(ROWS), '-c', cwd, '--', ...command)

  const screen = () => tmux('capture-pane', '-p').split('\n').map(line => line.trimEnd()).join('\n').trimEnd()

  async function see(text: string | RegExp): Promise<string> {
    try {
      await vi.waitUntil(() => typeof text === 'string' ? screen().includes(text) : text.test(screen()), WAIT)
    } catch (error) {
      throw new Error(`${String(text)} did not come; the screen is:\n${screen()}`, { cause: error })
    }
    return screen()
  }

  async function stop(): Promise<void> {
    spawnSync('tmux', ['-S', join(folder, 'socket'), 'kill-server'])
    rmSync(folder, { recursive: true, force: true })
  }

  return {
    screen, see,
    type: (text, then = text) => {
      tmux('send-keys', '-l', '--', text)
      return see(then)
    },
    press: (key, then) => {
      tmux('send-keys', '--', key)
      return see(then)
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
