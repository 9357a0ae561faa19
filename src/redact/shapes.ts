// Secrets known by what stands around them: URLs, headers, commands, connection files, tokens of several parts.
// Every expression is bounded and begins at its word, so that no text makes it slow.

import type { Found } from './found.ts'
import { entropy, isExample, isRandom, isStandIn, isWordy } from './likeness.ts'
import { isEdge } from './tokens.ts'

type Push = (found: Found) => void
/** Looks at one place where its word stands. */
type Reader = (text: string, start: number, end: number, push: Push) => void

/** The readers by the word that calls them. */
export const SHAPES: readonly (readonly [word: string, read: Reader])[] = [
  ['eyJ', readJwt],
  ['://', readUrl],
  ['authorization', readAuthorization],
  ['bearer ', readBearer],
  ['cookie', readCookies],
  ['"auth', readDockerAuth],
  ['curl', (text, start, _end, push) => group(CURL, text, start, 'command-password', push)],
  ['mysql', (text, start, _end, push) => group(MYSQL, text, start, 'command-password', push)],
  ['sshpass', (text, start, _end, push) => group(SSHPASS, text, start, 'command-password', push)],
  ['redis-cli', (text, start, _end, push) => group(REDIS, text, start, 'command-password', push)],
  ['machine ', (text, start, _end, push) => group(NETRC, text, start, 'netrc-password', push)],
  ['discord', (text, start, _end, push) => group(DISCORD, text, start, 'discord-token', push)],
  ['"kty', readJwk],
  ...['mnemonic', 'seed phrase', 'seed_phrase', 'seedphrase', 'recovery phrase', '助记词'].map((word): readonly [string, Reader] => [word, readSeed]),
  [':AA', around('telegram-token', /\d{8,10}$/, /[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])/y)],
  ['Q~', around('azure-client-secret', /[A-Za-z0-9_~.]{3}\d$/, /[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~])/y)],
  ['AZDO', around('azure-devops-token', /[A-Za-z0-9]{76}$/, /[A-Za-z0-9]{4}(?![A-Za-z0-9])/y)],
  ['.atlasv1.', around('terraform-token', /[A-Za-z0-9]{14}$/, /[A-Za-z0-9_-]{60,70}/y)],
  ['-us', around('mailchimp-key', /[0-9a-f]{32}$/, /\d{1,2}(?![\w-])/y)],
]

const JWT = /eyJ[\w-]{8,4000}\.(?:eyJ[\w-]{4,8000}(?:\.[\w-]{0,2000})?|[\w-]{0,1000}\.[\w-]{10,100}\.[\w-]{4,8000}\.[\w-]{16,60})/y
const JWT_CUT = /eyJ[\w-]{12,4000}(?:\.[\w-]{0,8000})?$/y

function readJwt(text: string, start: number, _end: number, push: Push): void {
  if (!text.startsWith('eyJ', start) || !isEdge(text, start) || /[\w-]/.test(text[start - 1] ?? '') && !isEscaped(text, start)) return
  const whole = end(JWT, text, start)
  const last = whole ?? end(JWT_CUT, text, start)
  if (last === undefined) return
  // JSON of any kind begins so; a token's header says how it was signed.
  if (whole === undefined && !/"(?:alg|typ|kid|enc)"/.test(decoded(text.slice(start, start + 400)))) return
  push({ start, end: last, kind: 'jwt', ...whole === undefined ? { part: true } : {} })
}

const DATABASE = /^(?:postgres|mysql|mariadb|mongodb|redis|amqp|mssql|sqlserver|clickhouse|nats|ldap|smtp|s?ftp|ssh|kafka|oracle|jdbc|cockroach|snowflake|couchbase|neo4j|bolt|imap|pop3|mqtt|socks)/i
const WEB_LOGIN = /([^\s/?#:@"'<>\\`|()[\]{},]{0,128})(?::([^\s/?#@"'<>\\`|]{1,256}))?@(?=[\w.[-])/y
const DATABASE_LOGIN = /([^\s/?#:@"'<>\\`|()[\]{},]{0,128}):([^\s@"'<>\\`]{1,256}(?:@[^\s@"'<>\\`/]{1,100})?)@(?=[\w.[-])/y
const USUAL_LOGIN = /^(?:p|pw|pwd|pass|passw?or?d|secret|token|key|user|username|login|name|foo|bar|baz|qux|xyz|123|admin|x+|y+|abc|test|\*+|\.+|-+|\w)$/i

function readUrl(text: string, start: number, at: number, push: Push): void {
  const scheme = /[a-z][a-z0-9+.-]{0,30}$/i.exec(text.slice(Math.max(0, start - 31), start))?.[0]
  if (scheme === undefined) return
  const expression = DATABASE.test(scheme) ? DATABASE_LOGIN : WEB_LOGIN
  expression.lastIndex = at
  const match = expression.exec(text)
  if (match === null) return
  const [, user = '', password] = match
  const passwordEnd = expression.lastIndex - 1
  if (password !== undefined) {
    const isUsual = USUAL_LOGIN.test(password) || isStandIn(password) || /^\d{1,5}$/.test(password) && user.includes('.')
    if (isUsual) return
    const plain = decodedUri(password)
    const encoded = plain === password ? {} : { value: plain, aliases: [password] }
    push({ start: passwordEnd - password.length, end: passwordEnd, kind: 'url-password', from: start - scheme.length, ...encoded })
    return
  }
  if (isRandom(user, 20) && !isExample(user)) push({ start: at, end: at + user.length, kind: 'url-token', from: start })
}

const AUTHORIZATION = /authorization\\{0,3}["'`]?\]?[ \t]{0,8}[:=,][ \t]{0,8}\\{0,3}["'`]?(?:[A-Za-z][\w-]{2,20}[ \t]+)?([^\s"'`,;<>\\]{6,8000})/yi
const SIGNATURE = /signature=["']?([\w+/=%-]{20,400})/yi

function readAuthorization(text: string, start: number, _end: number, push: Push): void {
  AUTHORIZATION.lastIndex = start
  const match = AUTHORIZATION.exec(text)
  if (match === null) return
  const value = match[1]!
  const last = AUTHORIZATION.lastIndex
  if (/[ \t]$/.test(match[0].slice(0, -value.length)) ? isHeaderValue(value) : isRandom(value, 12) && isHeaderValue(value)) {
    if (!value.includes('=') || /^[^=]*={0,2}$/.test(value)) push(credential(text, last - value.length, last, 'authorization', start))
  }
  // Signed requests name what they were signed with, and then the signature.
  for (let at = last; at < Math.min(text.length, last + 400) && text[at] !== '\n'; at += 1) {
    if (text[at] !== 'S' && text[at] !== 's') continue
    SIGNATURE.lastIndex = at
    const signature = SIGNATURE.exec(text)?.[1]
    if (signature === undefined) continue
    push({ start: SIGNATURE.lastIndex - signature.length, end: SIGNATURE.lastIndex, kind: 'authorization', from: start })
    return
  }
}

function isHeaderValue(value: string): boolean {
  return !isStandIn(value) && (!isWordy(value) || LOGIN.test(decoded(value))) && !/[(){}[\]]/.test(value)
}

const BEARER = /bearer[ \t]+\\{0,3}["']?([A-Za-z0-9_.~+/=-]{12,8000})/yi

function readBearer(text: string, start: number, _end: number, push: Push): void {
  BEARER.lastIndex = start
  const value = BEARER.exec(text)?.[1]
  if (value === undefined || isStandIn(value) || !isRandom(value, 16)) return
  push(credential(text, BEARER.lastIndex - value.length, BEARER.lastIndex, 'authorization', start))
}

/** A user and a password, as `Basic` has them. */
const LOGIN = /^[\x20-\x7e]{1,100}:([\x20-\x7e]{3,200})$/

/** With what it says when decoded: a user's password. */
function credential(text: string, start: number, last: number, kind: string, from: number): Found {
  const value = text.slice(start, last)
  const password = LOGIN.exec(decoded(value))?.[1]
  return { start, end: last, kind, from, ...password === undefined ? {} : { aliases: [password] } }
}

const COOKIES = /(?:set-)?cookie\\{0,3}["'`]?\]?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["'`]?(?=[\w.-]+=)/yi
const COOKIE = /([\w.!#$%&*+^|~-]{1,100})=([^\s;,"'`\\<>]{0,4000})(?:; ?)?/y
const COOKIE_ATTRIBUTE = /^(?:path|domain|expires|max-age|samesite|priority|version|secure|httponly|partitioned)$/i
const COOKIES_READ = 100

function readCookies(text: string, start: number, _end: number, push: Push): void {
  let at = end(COOKIES, text, start)
  for (let count = 0; at !== undefined && count < COOKIES_READ; count += 1) {
    COOKIE.lastIndex = at
    const match = COOKIE.exec(text)
    if (match === null) return
    const [whole, name = '', value = ''] = match
    const last = at + name.length + 1 + value.length
    const tells = /sess|sid$|auth|token|csrf|xsrf/i.test(name) ? value.length >= 6 && /\d/.test(value) : isRandom(value, 12)
    if (tells && !COOKIE_ATTRIBUTE.test(name) && !isStandIn(value)) push({ start: last - value.length, end: last, kind: 'cookie', from: start })
    at += whole.length
  }
}

const DOCKER = /"auth\\{0,3}"\s{0,4}:\s{0,4}\\{0,3}"([A-Za-z0-9+/]{8,400}={0,2})(?=\\{0,3}")/y

function readDockerAuth(text: string, start: number, _end: number, push: Push): void {
  DOCKER.lastIndex = start
  const value = DOCKER.exec(text)?.[1]
  if (value === undefined || !LOGIN.test(decoded(value))) return
  push(credential(text, DOCKER.lastIndex - value.length, DOCKER.lastIndex, 'registry-password', start))
}

const CURL = /curl\b[^\n]{0,300}?\s(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'$]{1,80}:([^\s"'`\\]{3,200})/yi
const MYSQL = /mysql(?:dump|admin|import)?\b[^\n]{0,120}?\s-p["']?([^\s"'`\\]{4,100})/y
const SSHPASS = /sshpass\s+-p[ =]?["']?([^\s"'`\\]{4,100})/y
const REDIS = /redis-cli\b[^\n]{0,120}?\s-a\s+["']?([^\s"'`\\]{4,100})/y
const NETRC = /machine\s{1,8}\S{1,100}\s{1,8}login\s{1,8}\S{1,100}\s{1,8}(?:password|passwd)\s{1,8}(\S{3,200})/y
const DISCORD = /discord[^\n]{0,80}?(?<![\w-])([MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,40})/yi

/** The first group, unless it stands for a value. */
function group(expression: RegExp, text: string, start: number, kind: string, push: Push): void {
  expression.lastIndex = start
  const value = expression.exec(text)?.[1]
  if (value === undefined || isStandIn(value) || USUAL_LOGIN.test(value)) return
  push({ start: expression.lastIndex - value.length, end: expression.lastIndex, kind, from: start })
}

const JWK_PART = /"(?:d|k|p|q|dp|dq|qi)\\{0,3}"\s{0,4}:\s{0,4}\\{0,3}"([\w-]{20,2000})/g
const JWK_LONGEST = 4_000

/** The private members of a key in JSON; the others are public. */
function readJwk(text: string, start: number, _end: number, push: Push): void {
  const before = text.slice(Math.max(0, start - JWK_LONGEST), start)
  const inside = before.slice(before.lastIndexOf('{') + 1)
  const length = text.slice(start, start + JWK_LONGEST).indexOf('}')
  if (length < 0 || inside.includes('"kty')) return
  const open = start - inside.length
  for (const match of text.slice(open, start + length).matchAll(JWK_PART)) {
    const last = open + match.index + match[0].length
    push({ start: last - match[1]!.length, end: last, kind: 'jwk', from: open })
  }
}

const SEED = /(?:mnemonic|seed[ _]?phrase|recovery phrase|助记词)\\{0,3}["'`]?\s{0,4}(?::|=|：|is)\s{0,4}\\{0,3}["'`]?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b/yi

function readSeed(text: string, start: number, _end: number, push: Push): void {
  SEED.lastIndex = start
  const value = SEED.exec(text)?.[1]
  if (value === undefined || new Set(value.split(/[ ,]+/)).size < 9) return
  push({ start: SEED.lastIndex - value.length, end: SEED.lastIndex, kind: 'seed-phrase', from: start })
}

/** A token whose fixed part stands in its middle. */
function around(kind: string, before: RegExp, after: RegExp): Reader {
  return (text, start, at, push) => {
    const head = before.exec(text.slice(Math.max(0, start - 80), start))?.[0]
    const last = head === undefined ? undefined : end(after, text, at)
    if (head === undefined || last === undefined || !isEdge(text, start - head.length)) return
    const token = text.slice(start - head.length, last)
    if (!isExample(token) && entropy(token) > 3) push({ start: start - head.length, end: last, kind })
  }
}

function isEscaped(text: string, at: number): boolean {
  return isEdge(text, at) && text[at - 1] !== '-' && text[at - 1] !== '_'
}

function end(expression: RegExp, text: string, at: number): number | undefined {
  expression.lastIndex = at
  return expression.test(text) ? expression.lastIndex : undefined
}

/** What base64 says, or whatever comes of it. */
function decoded(value: string): string {
  return Buffer.from(value, 'base64').toString('latin1')
}

function decodedUri(value: string): string {
  try { return decodeURIComponent(value) } catch { return value }
}
