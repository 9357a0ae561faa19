/**
 * Secrets of every kind, drawn at run time from a seed: no real-looking key stands in the repository, and none of these was ever
 * valid. A sample says how a secret usually stands and which part of that must not be seen by anybody.
 */

/** One secret. */
export interface Sample {
  /** What it is, for a failing test to say. */
  readonly name: string
  /** What must not leak. */
  readonly secret: string
  /** How it stands in a file, a command or a message; holds `secret`. */
  readonly text: string
}

export const LOWER = 'abcdefghijklmnopqrstuvwxyz'
export const UPPER = LOWER.toUpperCase()
export const DIGITS = '0123456789'
const HEX = `${DIGITS}abcdef`
const ALNUM = LOWER + UPPER + DIGITS
const WORD = `${ALNUM}_-`
const BASE64 = `${ALNUM}+/`
const BASE32 = `${UPPER}234567`

/** Draws characters; the same seed draws the same. */
export class Draw {
  private state: number

  constructor(seed: number) {
    this.state = seed * 2_654_435_761 + 1 >>> 0
  }

  /** A whole number from 0 to `below` - 1. */
  number(below: number): number {
    this.state = this.state + 0x6d2b79f5 >>> 0
    let mixed = Math.imul(this.state ^ this.state >>> 15, 1 | this.state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) % below
  }

  of(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.number(alphabet.length)]).join('')
  }

  hex = (length: number): string => this.of(HEX, length)
  word = (length: number): string => this.of(ALNUM, length)
  slug = (length: number): string => `${this.of(ALNUM, length - 1)}${this.of(ALNUM, 1)}`.replace(/^(.{5})./, '$1_')
  base64 = (length: number): string => this.of(BASE64, length)
  uuid = (): string => [8, 4, 4, 4, 12].map(length => this.hex(length)).join('-')
  /** What a person might choose: letters, figures, a sign. */
  password = (): string => `${this.of(LOWER, 5)}${this.of(DIGITS, 2)}${this.of(UPPER, 3)}${this.of('!.+', 1)}${this.of(LOWER, 3)}`
}

/** A token that is recognized alone: its beginning, from pieces, and what follows. */
const tokens: Record<string, (draw: Draw) => string> = {
  'aws access key': draw => `AK${'IA'}${draw.of(BASE32, 16)}`,
  'aws temporary key': draw => `AS${'IA'}${draw.of(BASE32, 16)}`,
  'aws session token': draw => `IQoJ${'b3JpZ2lu'}${draw.base64(220)}`,
  'google api key': draw => `AI${'za'}${draw.word(35)}`,
  'google oauth secret': draw => `GOC${'SPX-'}${draw.word(28)}`,
  'google oauth token': draw => `ya${'29.'}${draw.slug(120)}`,
  'alibaba key': draw => `LT${'AI'}${draw.word(20)}`,
  'tencent key': draw => `AK${'ID'}${draw.word(32)}`,
  'digitalocean token': draw => `dop_${'v1_'}${draw.hex(64)}`,
  'heroku key': draw => `HR${'KU-'}${draw.word(40)}`,
  'netlify token': draw => `nf${'p_'}${draw.word(40)}`,
  'vault token': draw => `hv${'s.'}${draw.word(90)}`,
  'terraform token': draw => `${draw.word(14)}.atlas${'v1.'}${draw.word(64)}`,
  'pulumi token': draw => `pu${'l-'}${draw.hex(40)}`,
  'doppler token': draw => `dp.${'pt.'}${draw.word(43)}`,
  'databricks token': draw => `da${'pi'}${draw.hex(32)}`,
  'planetscale password': draw => `pscale_${'pw_'}${draw.word(43)}`,
  'supabase key': draw => `sb${'p_'}${draw.hex(40)}`,
  'grafana token': draw => `gl${'sa_'}${draw.word(32)}_${draw.hex(8)}`,
  'new relic key': draw => `NR${'AK-'}${draw.of(UPPER + DIGITS, 27)}`,
  'azure client secret': draw => `${draw.of(ALNUM, 3)}8${'Q~'}${draw.word(34)}`,
  'azure devops token': draw => `${draw.word(76)}${'AZ'}DO${draw.word(4)}`,
  'github token': draw => `gh${'p_'}${draw.word(36)}`,
  'github app token': draw => `gh${'s_'}${draw.word(36)}`,
  'github fine-grained token': draw => `github_${'pat_'}${draw.word(22)}_${draw.word(59)}`,
  'gitlab token': draw => `gl${'pat-'}${draw.word(20)}`,
  'atlassian token': draw => `AT${'ATT3'}${draw.word(180)}`,
  'bitbucket token': draw => `AT${'BB'}${draw.word(32)}`,
  'npm token': draw => `np${'m_'}${draw.word(36)}`,
  'pypi token': draw => `py${'pi-AgE'}${draw.word(150)}`,
  'rubygems key': draw => `ruby${'gems_'}${draw.hex(48)}`,
  'docker token': draw => `dckr_${'pat_'}${draw.word(27)}`,
  'postman key': draw => `PM${'AK-'}${draw.hex(24)}-${draw.hex(34)}`,
  'slack bot token': draw => `xox${'b-'}${draw.of(DIGITS, 12)}-${draw.of(DIGITS, 12)}-${draw.word(24)}`,
  'slack app token': draw => `xa${'pp-'}1-A${draw.of(UPPER, 9)}-${draw.of(DIGITS, 12)}-${draw.hex(64)}`,
  'slack webhook': draw => `https://hooks.slack${'.com/services/'}T${draw.of(UPPER, 8)}/B${draw.of(UPPER, 8)}/${draw.word(24)}`,
  'discord webhook': draw => `https://discord${'.com/api/webhooks/'}${draw.of('123456789', 18)}/${draw.word(68)}`,
  'telegram bot token': draw => `${draw.of('123456789', 10)}${':AA'}${draw.word(33)}`,
  'twilio key': draw => `S${'K'}${draw.hex(32)}`,
  'sendgrid key': draw => `S${'G.'}${draw.word(22)}.${draw.word(43)}`,
  'mailgun key': draw => `ke${'y-'}${draw.hex(32)}`,
  'mailchimp key': draw => `${draw.hex(32)}${'-u'}s14`,
  'brevo key': draw => `xkey${'sib-'}${draw.hex(64)}-${draw.word(16)}`,
  'stripe key': draw => `sk_${'live_'}${draw.word(24)}`,
  'stripe restricted key': draw => `rk_${'live_'}${draw.word(99)}`,
  'stripe webhook secret': draw => `wh${'sec_'}${draw.word(32)}`,
  'square token': draw => `sq0${'csp-'}${draw.word(43)}`,
  'shopify token': draw => `shp${'at_'}${draw.hex(32)}`,
  'razorpay key': draw => `rzp_${'live_'}${draw.word(14)}`,
  'plaid token': draw => `access-${'production-'}${draw.uuid()}`,
  'openai key': draw => `sk-${'proj-'}${draw.word(74)}T3Blbk${'FJ'}${draw.word(74)}`,
  'openai legacy key': draw => `s${'k-'}${draw.word(20)}T3Blbk${'FJ'}${draw.word(20)}`,
  'deepseek key': draw => `s${'k-'}${draw.hex(32)}`,
  'anthropic key': draw => `sk-${'ant-'}api03-${draw.slug(93)}AA`,
  'openrouter key': draw => `sk-${'or-v1-'}${draw.hex(64)}`,
  'groq key': draw => `gs${'k_'}${draw.word(52)}`,
  'xai key': draw => `xa${'i-'}${draw.word(80)}`,
  'hugging face token': draw => `h${'f_'}${draw.of(LOWER + UPPER, 34)}`,
  'replicate token': draw => `r${'8_'}${draw.word(37)}`,
  'perplexity key': draw => `pp${'lx-'}${draw.word(48)}`,
  'nvidia key': draw => `nv${'api-'}${draw.word(64)}`,
  'langsmith key': draw => `lsv2_${'pt_'}${draw.hex(32)}_${draw.hex(10)}`,
  'pinecone key': draw => `pc${'sk_'}${draw.word(6)}_${draw.word(63)}`,
  'linear key': draw => `lin_${'api_'}${draw.word(40)}`,
  'notion token': draw => `nt${'n_'}${draw.word(46)}`,
  'airtable token': draw => `pa${'t'}${draw.word(14)}.${draw.hex(64)}`,
  'figma token': draw => `fig${'d_'}${draw.word(40)}`,
  'age key': draw => `AGE-SECRET-${'KEY-1'}${draw.of('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`,
  'password hash': draw => `${'$2'}b$12$${draw.word(53)}`,
  'jwt': draw => `${base64Url({ alg: 'HS256', typ: 'JWT' })}.${base64Url({ sub: draw.word(12), iat: 1_700_000_000 })}.${draw.word(43)}`,
}

/** Secrets that only their place tells: how they stand, given the secret. */
const placed: Record<string, readonly [secret: (draw: Draw) => string, text: (secret: string, draw: Draw) => string]> = {
  'aws secret key': [draw => draw.base64(40), secret => `aws_secret_access_key = ${secret}`],
  'aws key pair in a table': [draw => draw.base64(40), (secret, draw) => `AK${'IA'}${draw.of(BASE32, 16)},${secret}`],
  'azure storage key': [draw => `${draw.base64(86)}==`, secret => `DefaultEndpointsProtocol=https;AccountName=store;AccountKey=${secret};EndpointSuffix=core.windows.net`],
  'database url': [draw => draw.password(), secret => `postgres://app:${secret}@db.internal:5432/app`],
  'redis url without a user': [draw => draw.word(20), secret => `redis://:${secret}@cache:6379/0`],
  'url with a token': [draw => draw.word(40), secret => `git clone https://${secret}@git.internal/team/app.git`],
  'connection string': [draw => draw.password(), secret => `Server=db;User Id=app;Password=${secret};Encrypt=true`],
  'authorization header': [draw => draw.word(48), secret => `Authorization: Bearer ${secret}`],
  'basic authorization': [draw => btoa(`app:${draw.password()}`), secret => `"Authorization": "Basic ${secret}"`],
  'bearer in code': [draw => draw.word(40), secret => `headers.set('x', \`Bearer ${secret}\`)`],
  'cookie': [draw => draw.hex(32), secret => `Cookie: theme=dark; sessionid=${secret}; lang=en`],
  'set-cookie': [draw => draw.word(43), secret => `set-cookie: connect.sid=${secret}; Path=/; HttpOnly`],
  'api key header': [draw => draw.word(32), secret => `curl -H "X-Api-Key: ${secret}" https://api.internal/v1/users`],
  'env password': [draw => draw.password(), secret => `DB_PASSWORD=${secret}`],
  'env password of letters': [draw => draw.of(LOWER, 9), secret => `export SMTP_PASS=${secret}`],
  'env token in quotes': [draw => draw.word(32), secret => `export DEPLOY_TOKEN="${secret}"`],
  'env secret': [draw => draw.hex(64), secret => `SESSION_SECRET=${secret}`],
  'env key': [draw => draw.base64(44), secret => `APP_KEY=${secret}`],
  'env api key as a uuid': [draw => draw.uuid(), secret => `HEROKU_API_KEY=${secret}`],
  'compose file': [draw => draw.password(), secret => `    POSTGRES_PASSWORD: ${secret}`],
  'yaml password': [draw => draw.password(), secret => `  password: ${secret}`],
  'properties file': [draw => draw.password(), secret => `spring.datasource.password=${secret}`],
  'json password': [draw => draw.password(), secret => `{"user": "app", "password": "${secret}"}`],
  'token in code': [draw => draw.word(32), secret => `const accessToken: string = '${secret}'`],
  'api key in code': [draw => draw.hex(32), secret => `client = Client(api_key="${secret}")`],
  'client secret': [draw => draw.slug(40), secret => `clientSecret: "${secret}",`],
  'name and value': [draw => draw.word(32), secret => `- name: API_TOKEN\n  value: ${secret}`],
  'xml setting': [draw => draw.word(32), secret => `<add key="ServiceToken" value="${secret}" />`],
  'option': [draw => draw.password(), secret => `deploy --user app --password ${secret} --verbose`],
  'curl user': [draw => draw.password(), secret => `curl -s -u app:${secret} https://api.internal/health`],
  'mysql option': [draw => draw.password(), secret => `mysqldump -u root -p${secret} app > dump.sql`],
  'netrc': [draw => draw.password(), secret => `machine git.internal login app password ${secret}`],
  'npmrc': [draw => draw.uuid(), secret => `//registry.internal/:_authToken=${secret}`],
  'docker login': [draw => btoa(`app:${draw.password()}`), secret => `{"auths": {"registry.internal": {"auth": "${secret}"}}}`],
  'random value beside a word': [draw => draw.word(40), secret => `The deploy token for staging, ${secret}, expires on Friday`],
  'password in a sentence': [draw => draw.password(), secret => `the password is ${secret}`],
  'password in Chinese': [draw => draw.password(), secret => `数据库密码：${secret}`],
  'private key': [draw => draw.base64(64), (secret, draw) => privateKey(draw, [secret])],
  'openssh key': [draw => draw.base64(70), (secret, draw) => privateKey(draw, [secret], 'OPENSSH ', 70)],
  'private key on one line': [draw => draw.base64(64), (secret, draw) => JSON.stringify({ private_key: privateKey(draw, [secret]) })],
  'private key without an end': [draw => draw.base64(64), (secret, draw) => privateKey(draw, [secret]).split('-----END')[0]!],
  'private key without a beginning': [draw => draw.base64(64), (secret, draw) => privateKey(draw, [secret]).replace(/^.*\n/, '')],
  'kubernetes client key': [draw => draw.base64(400), secret => `    client-key-data: ${secret}`],
  'jwk': [draw => draw.word(43), (secret, draw) => `{"kty":"EC","crv":"P-256","x":"${draw.word(43)}","d":"${secret}"}`],
  'discord bot token': [draw => `M${draw.word(23)}.${draw.word(6)}.${draw.word(38)}`, secret => `discord.login('${secret}')`],
  'otp seed': [draw => draw.of(BASE32, 32), secret => `otpauth://totp/app?secret=${secret}&issuer=app`],
  'signed url': [draw => draw.hex(64), secret => `https://bucket.s3.amazonaws.com/a?X-Amz-Expires=60&X-Amz-Signature=${secret}`],
  'seed phrase': [draw => Array.from({ length: 12 }, () => draw.of(LOWER, 5)).join(' '), secret => `mnemonic: "${secret}"`],
}

/** One of each kind. */
export function samples(seed = 1): Sample[] {
  const draw = new Draw(seed)
  const alone = Object.entries(tokens).map(([name, make]): Sample => {
    const secret = make(draw)
    return { name, secret, text: secret }
  })
  const inPlace = Object.entries(placed).map(([name, [make, text]]): Sample => {
    const secret = make(draw)
    return { name, secret, text: text(secret, draw) }
  })
  return [...alone, ...inPlace]
}

/** Where a session may hold a sample's text. Each gives the texts of one message. */
export const PLACES: Readonly<Record<string, (text: string) => string>> = {
  'a prompt': text => `Please try it with this:\n${text}\nand tell me what happens.`,
  'a tool argument': text => JSON.stringify({ file_path: 'src/config.ts', content: `line one\n${text}\nline three\n` }),
  'a tool result': text => `$ cat notes.txt\n${text}\n(exit code 0)`,
  'a listing': text => text.split('\n').map((line, index) => `${String(index + 11).padStart(6)}→${line}`).join('\n'),
  'a diff': text => `@@ -1,3 +1,3 @@\n context\n${text.split('\n').map(line => `+${line}`).join('\n')}\n context`,
  'reasoning': text => `The user gave me this. ${text}\nI should not repeat it.`,
  'a terminal\'s colours': text => `\u001b[32m${text}\u001b[0m`,
}

/** A private key's block, the given lines among the others. */
export function privateKey(draw: Draw, lines: readonly string[], type = 'RSA ', width = 64): string {
  const body = [...Array.from({ length: 6 }, () => draw.base64(width)), ...lines, ...Array.from({ length: 5 }, () => draw.base64(width)), `${draw.base64(22)}==`]
  return [`-----BEGIN ${type}PRIVATE${' KEY'}-----`, ...body, `-----END ${type}PRIVATE${' KEY'}-----`].join('\n')
}

function base64Url(value: object): string {
  return btoa(JSON.stringify(value)).replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_')
}
