/** Secrets of every kind, at every place of a session, and what must be left alone. */
import { describe, expect, test } from 'vitest'
import { Redactor } from '../../src/redact/redactor.ts'
import { Draw, PLACES, samples } from '../support/secrets.ts'

const fresh = () => new Redactor({ patterns: [], known: [] })
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
/** So much of a secret is already too much. */
const SHARE = 12

/** What of a secret can be read in a text: it, its beginning or its end. */
function leak(secret: string, text: string): string | undefined {
  return [secret, ...secret.length > SHARE + 4 ? [secret.slice(0, SHARE), secret.slice(-SHARE)] : []].find(part => text.includes(part))
}

test('there are at least forty-five kinds of secrets to try, each told apart by its name', () => {
  const kinds = samples()
  expect(kinds.length).toBeGreaterThanOrEqual(45)
  expect(new Set(kinds.map(({ name }) => name)).size).toBe(kinds.length)
  for (const { text, secret } of kinds) expect(text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1))).toBe(true)
})

describe.each(Object.entries(PLACES))('in %s', (_place, put) => {
  test('nothing of any secret is left', () => {
    const leaks = SEEDS.flatMap(seed => samples(seed)).flatMap(({ name, secret, text }) => {
      const seen = leak(secret, fresh().text(put(text)))
      return seen === undefined ? [] : [`${name}: ${seen}`]
    })
    expect(leaks).toEqual([])
  })

  test('redacting twice changes nothing', () => {
    for (const { text } of samples()) {
      const once = fresh().text(put(text))
      expect(fresh().text(once)).toBe(once)
    }
  })
})

test('in JSON values and keys nothing of any secret is left, however deep', () => {
  for (const { name, secret, text } of SEEDS.flatMap(seed => samples(seed))) {
    const json = JSON.stringify(fresh().value({ input: [{ command: text, [text]: 1, rest: [text, null, true] }] }))
    expect(leak(JSON.stringify(secret).slice(1, -1), json), name).toBeUndefined()
  }
})

test('file names are no place to hide one', () => {
  for (const { name, secret, text } of samples().filter(({ text }) => /^[\w.=!-]{8,120}$/.test(text))) {
    expect(leak(secret, fresh().text(`→ read(backup/${text}.txt)`)), name).toBeUndefined()
    expect(leak(secret, fresh().text(`rm ~/keys-${text}`)), name).toBeUndefined()
  }
})

describe('a key that is named but has a form of nobody', () => {
  const draw = new Draw(99)
  const password = draw.password()
  test.each([
    ['an object\'s key', { password }],
    ['an option and then its value', ['deploy', '--password', password]],
    ['a pair', { name: 'DB_PASSWORD', value: password }],
    ['a list below a name', { passwords: [{ password }] }],
  ])('is known by %s', (_what, value) => {
    expect(JSON.stringify(fresh().value(value))).not.toContain(password)
  })
})

const HEX = '0123456789abcdef'
const draw = new Draw(7)
const hash = draw.of(HEX, 40)
const base64 = draw.base64(300)

test.each([
  ['a commit', `commit ${hash}`],
  ['a short commit', `${hash.slice(0, 8)} fix: the token is refreshed`],
  ['a commit beside a word', `- refresh the token ([${hash.slice(0, 7)}](https://github.com/a/b/commit/${hash}))`],
  ['a UUID', `session ${draw.uuid()} started`],
  ['a base64 image', `![logo](data:image/png;base64,${base64})`],
  ['an integrity hash', `"integrity": "sha512-${draw.base64(86)}=="`],
  ['an integrity hash beside a word', `js-tokens@9.0.1: {integrity: sha512-${draw.base64(86)}==}`],
  ['a certificate', `-----BEGIN CERTIFICATE-----\n${draw.base64(64)}\n${draw.base64(64)}\n-----END CERTIFICATE-----`],
  ['a public key', `ssh-ed25519 ${draw.base64(68)} me@laptop`],
  ['the mark of a key', 'if (text.includes(\'-----BEGIN PRIVATE KEY-----\')) return'],
  ['a template of a key', '`-----BEGIN PRIVATE KEY-----\\n${body}\\n-----END PRIVATE KEY-----`'],
  ['a placeholder of a manual', 'API_KEY=YOUR_API_KEY'],
  ['another placeholder of a manual', 'Authorization: Bearer <token>'],
  ['an example of a manual', 'aws_access_key_id = AKIAIOSFODNN7EXAMPLE'],
  ['a mask', 'password: ********'],
  ['a variable of the environment', 'const key = process.env.API_KEY'],
  ['a variable of a shell', 'export TOKEN=${TOKEN}'],
  ['a command\'s output', 'TOKEN=$(cat /run/secrets/token)'],
  ['a type', 'password: string'],
  ['a call', 'const token = getToken()'],
  ['a call with await', 'token = await refreshToken(session2, { force: true })'],
  ['a member', 'apiKey: options.apiKey ?? \'\''],
  ['a schema', 'password: z.string().min(8).max(64)'],
  ['a label', '"password": "Enter your password"'],
  ['a number', 'MAX_TOKENS=4096'],
  ['a version', '"dsh-credentials": "^0.1.0-rc.8"'],
  ['a path', 'PRIVATE_KEY_PATH=/etc/ssl/private/server.key'],
  ['a working folder', 'PWD=/tmp/x7Kq2Lm9/app'],
  ['a URL with a port', 'http://localhost:3000/@vite/client'],
  ['a URL of an example', 'postgres://user:password@localhost:5432/app'],
  ['a remote of git', 'git@github.com:owner/repository.git'],
  ['a reference', 'apiKeyEnv: DEEPSEEK_API_KEY'],
  ['prose', 'The token is refreshed every 30 minutes, the secret is never shown'],
  ['a cookie that says nothing', 'Cookie: theme=dark; lang=en'],
  ['a style\'s name', '.sk-folding-cube .sk-cube-1 { width: 33% }'],
  ['a placeholder of ours', 'DB_PASSWORD=[secret 3: password] and token [secret 12: github-token]'],
])('leaves %s alone', (_what, text) => {
  expect(fresh().text(text)).toBe(text)
})
