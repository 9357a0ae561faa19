/** Which clipboard is sure to be the user's. */
import { expect, test } from 'vitest'
import { clipboardOf, type Desktop } from '../../src/surface/clipboard.ts'

const HERE: Desktop = { platform: 'linux', env: { DISPLAY: ':0' }, atTerminal: true }

test.each<[string, Partial<Desktop>, string]>([
  ['a page or a client', { atTerminal: false }, 'this front end has no clipboard for it'],
  ['a remote login', { env: { DISPLAY: ':0', SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' } }, 'the clipboard is on another machine'],
  ['a remote login on a Mac', { platform: 'darwin', env: { SSH_TTY: '/dev/ttys1' } }, 'the clipboard is on another machine'],
  ['a machine without a desktop', { env: {} }, 'no desktop was found'],
  ['a platform whose tool is not known', { platform: 'win32' }, 'no desktop was found'],
])('%s has none: %s', (_name, desktop, reason) => {
  expect(clipboardOf({ ...HERE, ...desktop })).toEqual({ kind: 'none', reason })
})

test.each<[string, Partial<Desktop>, string[]]>([
  ['X', {}, ['xclip', 'xsel']],
  ['Wayland, and X below it', { env: { DISPLAY: ':0', WAYLAND_DISPLAY: 'wayland-0' } }, ['wl-copy', 'xclip', 'xsel']],
  ['a Mac', { platform: 'darwin', env: {} }, ['pbcopy']],
])('%s has its tools', (_name, desktop, commands) => {
  const clipboard = clipboardOf({ ...HERE, ...desktop })
  expect(clipboard.kind === 'tools' ? clipboard.tools.map(([command]) => command) : clipboard.kind).toEqual(commands)
})
