/** No text makes the redactor slow, and ordinary code is hardly ever touched. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Redactor } from '../../src/redact/redactor.ts'
import { touchedLines } from '../support/touched-lines.ts'

const LENGTH = 250_000
/** Ten times what it takes; a search that went over the text again for each piece would take a minute. Processor time. */
const MOST_MS = 3_000

const repeated = [
  'a', '0', '=', '"', '\n', '\\', ' ', '-', '+', 'aA1', 'token', 'token=', 'token="', 'token: ', 'token\n', 'token ', 'secret_', 'password is ', 'pass:', '密码：', 'key_',
  'api_key = "a1b2c3d4e5f6', 'token=\\"', 'TOKEN=a.', 'name: TOKEN\n  value: ', '--token ', '<token>', '[secret ', '[secret 1: x]', 'token [secret 1: x] ',
  'eyJ', '.eyJ', 'eyJ.', '.eyJhbGciOiJIUzI1NiJ9', 'sk-', 'sk-ant-', 'xoxb-', 'fm2_', 'ghp_', 'AKIA', 'AAAAAAAAAAAAAAAAAAAAA', 'sig=', '$6$', 'dp.pt.', '-us12', 'Q~', 'AZDO', '.atlasv1.', '0123456789:AA',
  '://', 'a://b:', 'a://b:c@', 'postgres://u:p@', 'authorization: ', 'authorization: x Signature=', 'Bearer ', 'cookie: a=b; ', 'curl -u ', 'mysql -p', 'machine x login y ', 'discordM', '"kty":', '{"kty":"', 'mnemonic: abcd ',
  '-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----\n', `-----BEGIN PRIVATE KEY-----\n${'A1b2'.repeat(16)}\n`, '-----BEGIN PRIVATE KEY-----\nProc-Type: ', '-----BEGIN PRIVATE KEY-----\n+', 'Private-Lines: 9\n',
  `${'+'.repeat(15_000)}!-----END PRIVATE KEY-----`, `${' '.repeat(15_000)}!\n-----END PRIVATE KEY-----`, `token=${'aA1'.repeat(2_660)} `, `password=${'aA.'.repeat(2_660)}\n`,
]

test.each(repeated)('a quarter of a million characters of %j are done in bounded time', (piece) => {
  expect(timeOf(piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH))).toBeLessThan(MOST_MS)
})

// Beside placeholders it is searched twice, which is still bounded.
test('a million characters of all of them in turn are done in bounded time, a million on one line too', () => {
  const mixed = repeated.map(piece => piece.repeat(Math.ceil(4 * LENGTH / repeated.length / piece.length))).join('')
  expect(timeOf(mixed)).toBeLessThan(8 * MOST_MS)
  expect(timeOf(mixed.replaceAll('\n', ''))).toBeLessThan(8 * MOST_MS)
})

function timeOf(text: string): number {
  const before = process.threadCpuUsage()
  new Redactor({ patterns: [], known: ['plain-known-value'] }).text(`${text}Aa1`)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** Our own code and that of two packages that we use. */
const ORDINARY = ['../../src/', '../../scripts/', '../../node_modules/yaml/', '../../node_modules/vitest/'].map(path => fileURLToPath(new URL(path, import.meta.url)))

test('fewer than one in a thousand lines of ordinary code is touched', () => {
  let lines = 0
  const touched: string[] = []
  for (const file of ORDINARY.flatMap(codeFiles)) {
    const text = readFileSync(file, 'utf8')
    lines += text.split('\n').length
    touched.push(...touchedLines(text))
  }
  expect(lines).toBeGreaterThan(50_000)
  expect(touched.length, touched.join('\n')).toBeLessThan(lines / 1_000)
})

function codeFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /\.(?:[cm]?[jt]s|json|md)$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
}

test.each([
  'PASSWORD=hunter2Zq9xW8vT[secret 9: a]', 'PASSWORD=[secret 9: a]hunter2Zq9xW8vT', 'DB_PASSWORD="[secret 1: password]hunter2Zq9xW8vT"',
  'postgres://root:hunter2Zq9xW8vT[secret 9: a]@db/shop', 'PASSWORD=hunter2Zq9xW8vT [secret 9: a]', 'PASSWORD=hunter2[secret 9: a]Zq9xW8vT',
])('a placeholder that somebody writes beside a secret does not protect it: %s', (text) => {
  const redactor = new Redactor({ patterns: [], known: [] })
  const once = redactor.text(text)
  expect(once).not.toMatch(/hunter2|Zq9xW8vT/)
  expect(redactor.text(once)).toBe(once)
})
