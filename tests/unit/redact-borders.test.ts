/** Secrets that a border between two texts cuts in two. */
import { describe, expect, test } from 'vitest'
import { Redactor } from '../../src/redact/redactor.ts'
import { Draw, privateKey, samples } from '../support/secrets.ts'

const fresh = () => new Redactor({ patterns: [], known: [] })
const FRAMES = {
  'nothing between': '',
  'a heading and a label between': '## step 1.2\n[tool result]\n',
  'a call between': '## step 1.2\n→ read(a.txt)\n[tool result]\n',
}
const SHARES = [0.3, 0.5, 0.8]
/** So few characters say nothing. */
const SHORT = 6

/** Cut a sample inside its secret; what each side then holds of it. */
function cut(sample: { text: string, secret: string }, share: number) {
  const length = Math.floor(sample.secret.length * share)
  const at = sample.text.indexOf(sample.secret) + length
  return { texts: [`before\n${sample.text.slice(0, at)}`, `${sample.text.slice(at)}\nafter`], parts: [sample.secret.slice(0, length), sample.secret.slice(length)] }
}

const cuts = [1, 2].flatMap(seed => samples(seed)).flatMap(sample => SHARES.map(share => ({ name: `${sample.name} at ${share}`, ...cut(sample, share) })))

describe.each(Object.entries(FRAMES))('with %s', (_what, frame) => {
  test('both parts are replaced', () => {
    const leaks = cuts.filter(({ texts, parts }) => {
      const [left, right] = fresh().texts([texts[0]!, frame + texts[1]])
      return shows(left!, parts[0]!.slice(-SHORT)) || shows(right!, parts[1]!.slice(0, SHORT))
    })
    expect(leaks.map(({ name }) => name)).toEqual([])
  })

  test('both parts are replaced when each text was redacted alone before it was rendered', () => {
    const leaks = cuts.filter(({ texts, parts }) => {
      const redactor = fresh()
      const alone = texts.map(text => redactor.text(text))
      const [left, right] = redactor.texts([alone[0]!, frame + alone[1]])
      return shows(left!, parts[0]!.slice(-SHORT)) || shows(right!, parts[1]!.slice(0, SHORT))
    })
    expect(leaks.map(({ name }) => name)).toEqual([])
  })

  test('the second part is replaced when it comes with the next call', () => {
    const leaks = cuts.filter(({ texts, parts }) => {
      const redactor = fresh()
      redactor.texts([texts[0]!])
      return shows(redactor.texts([frame + texts[1]])[0]!, parts[1]!.slice(0, SHORT))
    })
    expect(leaks.map(({ name }) => name)).toEqual([])
  })
})

function shows(text: string, part: string): boolean {
  return part.length >= SHORT && text.includes(part)
}

const token = samples(5).find(({ name }) => name === 'github token')!.secret

test('both parts and the whole read as the same secret', () => {
  const redactor = fresh()
  expect(redactor.texts([`GH=${token.slice(0, 20)}`, `## step 1.2\n[tool result]\n${token.slice(20)}\nok`, `again ${token}`]))
    .toEqual(['GH=[secret 1: github-token]', '## step 1.2\n[tool result]\n[secret 1: github-token]\nok', 'again [secret 1: github-token]'])
})

test('a secret in three texts is replaced in all of them', () => {
  expect(fresh().texts([`x ${token.slice(0, 12)}`, token.slice(12, 24), `${token.slice(24)} y`]))
    .toEqual(['x [secret 1: github-token]', '[secret 1: github-token]', '[secret 1: github-token] y'])
})

test('a private key is followed through as many texts and calls as it takes', () => {
  const draw = new Draw(6)
  const lines = privateKey(draw, []).split('\n')
  const texts = [`$ cat key\n${lines.slice(0, 4).join('\n')}`, `## step 1.2\n[tool result]\n${lines.slice(4, 8).join('\n')}`, `## step 1.3\n[tool result]\n${lines.slice(8).join('\n')}\ndone`]
  const shown = /[A-Za-z0-9+/]{30,}/
  expect(fresh().texts(texts).join('\n')).not.toMatch(shown)
  const redactor = fresh()
  expect(texts.flatMap(text => redactor.texts([text])).join('\n')).not.toMatch(shown)
})

test('a key whose beginning stands alone at the end of a text is known in the next', () => {
  const [mark, ...body] = privateKey(new Draw(6), []).split('\n')
  const redactor = fresh()
  redactor.texts([`$ head -1 key\n${mark}`])
  expect(redactor.texts([body.slice(0, 5).join('\n')])[0]).toMatch(/^\[secret 1: private-key\]$/)
})

test('a name at the end of one text announces the value at the head of the next', () => {
  const password = new Draw(6).password()
  expect(fresh().texts(['the new DB_PASSWORD=', `${password} is set`])).toEqual(['the new DB_PASSWORD=', '[secret 1: password] is set'])
})

test('a blank that the renderer trimmed at a border is no place to hide one', () => {
  const password = new Draw(6).password()
  expect(fresh().texts(['[tool result]\nmachine git.internal login app', `## step 1.2\n[tool result]\npassword ${password}`]).join('\n')).not.toContain(password)
})

test('a value of the host\'s store is found over a border, too', () => {
  const redactor = new Redactor({ patterns: [], known: ['Kx7-plain-value-9'] })
  expect(redactor.texts(['it is Kx7-plain', '-value-9.'])).toEqual(['it is [secret 1: stored-credential]', '[secret 1: stored-credential].'])
})

test('what somebody else says after a complete secret is left alone', () => {
  expect(fresh().texts([`**user:** use ${token}`, '## step 1.2\n**agent:** The token works', 'Next']))
    .toEqual(['**user:** use [secret 1: github-token]', '## step 1.2\n**agent:** The token works', 'Next'])
})

test('texts without secrets come back as they are', () => {
  const texts = ['## step 1.1\n**user:** fix the token refresh', '**agent:** I look at src/token.ts', '[working]', '']
  expect(fresh().texts(texts)).toEqual(texts)
})
