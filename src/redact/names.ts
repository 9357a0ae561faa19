// Which names announce a secret. Decides by the name alone: `apiKey`, `DB_PASSWORD`, `spring.datasource.password`, `密码`.

/** What a name announces; `weak` is a key of which only a random-looking value is a secret. */
export type NameKind = 'password' | 'secret' | 'token' | 'key' | 'credential' | 'aws-secret-key' | 'weak'

/** A word of each name that counts, for the search; where a name ends is read from the text. */
export const NAME_WORDS = ['pass', 'pwd', 'secret', 'token', 'key', 'credential', 'creds', '_auth', 'dsn', '密码', '口令', '密钥', '令牌', '密碼', '金鑰'] as const

const SUFFIX = /_(?:\d+|value|v\d+|string|str|base64|b64|old|new|current|prod|production|dev|staging|live|test|plain|raw|main|default|base)$/
const KEY = new RegExp(`(?:^|_)(?:${[
  'api', 'access', 'secret', 'private', 'auth', 'encryption', 'encrypt', 'decryption', 'signing', 'sign', 'signature', 'master', 'admin', 'account',
  'shared', 'shared_access', 'service', 'service_role', 'session', 'jwt', 'hmac', 'deploy', 'licen[sc]e', 'webhook', 'ssh', 'subscription', 'storage_account',
  'consumer', 'integration', 'ingest', 'aes', 'crypto', 'cipher', 'security', 'token', 'app_secret', 'client_secret', 'server',
].join('|')})_?key$|apikey$|(?:client|tls|private)_key_data$`)

/** What the name announces, or undefined. */
export function nameKind(name: string): NameKind | undefined {
  // The shell's working folder.
  if (/^(?:OLD)?PWD$/.test(name)) return undefined
  const words = normal(name)
  if (/aws.*secret|secret_access_key$/.test(words)) return /key$|secret$/.test(words) ? 'aws-secret-key' : undefined
  if (/(?:^|_)(?:\w*pass_?word|\w*passwd|pass|pwd|\w*pass_?phrase|pass_?code)$|密码$|口令$|密碼$/.test(words)) return 'password'
  if (/secret$|密钥$|金鑰$/.test(words)) return 'secret'
  if (/token$|令牌$/.test(words)) return 'token'
  if (KEY.test(words)) return 'key'
  if (/(?:^|_)(?:credentials?|creds|auth|connection_string|dsn)$/.test(words)) return 'credential'
  return /_key$/.test(words) && !/(?:public|primary|foreign|sort|partition|cache|storage|index|map|row|hash|host|unique|group|object|s3)_key$/.test(words) ? 'weak' : undefined
}

/** Whether a command's option or an object's key announces a secret. */
export function announces(name: string): NameKind | undefined {
  return name.length <= 80 && /^[-\w.$ :/]+$|[\u4e00-\u9fff]/.test(name) ? nameKind(name) : undefined
}

/** Words in lower case, joined by `_`, without what says which one of several it is. */
function normal(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2').replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase().replace(/[-.$ :/]+/g, '_').replace(/^_+|_+$/g, '')
    .replace(SUFFIX, '')
}
