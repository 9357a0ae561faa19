/** What stands in the place of a secret, what is remembered of it, and the user's own patterns and values. */
import { describe, expect, test } from 'vitest'
import { patternFault, Redactor } from '../../src/redact/redactor.ts'
import { Draw, samples } from '../support/secrets.ts'

const make = (options: { patterns?: string[], known?: string[] } = {}) => new Redactor({ patterns: [], known: [], ...options })
const draw = new Draw(4)
const password = draw.password()
const other = draw.password()
const token = samples(3).find(({ name }) => name === 'github token')!.secret

describe('a placeholder', () => {
  test('says which secret it is and of what kind, in the order of first sight', () => {
    const redactor = make()
    expect(redactor.text(`DB_PASSWORD=${password}\nGH=${token}\nSMTP_PASSWORD=${other}`))
      .toBe('DB_PASSWORD=[secret 1: password]\nGH=[secret 2: github-token]\nSMTP_PASSWORD=[secret 3: password]')
    expect(redactor.count).toBe(3)
  })

  test('is the same for the same secret, whatever stands around it', () => {
    const redactor = make()
    const first = redactor.text(`DB_PASSWORD=${password}`)
    expect(first).toBe('DB_PASSWORD=[secret 1: password]')
    expect(redactor.text(`postgres://app:${password}@db/app`)).toBe('postgres://app:[secret 1: password]@db/app')
    expect(redactor.value({ url: `x ${password}` })).toEqual({ url: 'x [secret 1: password]' })
    expect(redactor.texts([`psql says ${password}`])).toEqual(['psql says [secret 1: password]'])
    expect(redactor.count).toBe(1)
  })

  test('is kept when everything else around it is redacted', () => {
    const redactor = make()
    const once = redactor.text(`token: "${token}", password: "${password}"`)
    expect(redactor.text(once)).toBe(once)
    expect(redactor.texts([once])).toEqual([once])
    expect(redactor.value({ once })).toEqual({ once })
  })
})

describe('what was seen once', () => {
  test('is replaced where nothing announces it', () => {
    const redactor = make()
    redactor.text(`DB_PASSWORD=${password}`)
    expect(redactor.text(`it printed ${password} and left`)).toBe('it printed [secret 1: password] and left')
  })

  test('is replaced as JSON and as URLs write it', () => {
    const redactor = make({ known: ['a"b\\c/d e12345'] })
    expect(redactor.text(JSON.stringify({ v: 'a"b\\c/d e12345' }))).toBe('{"v":"[secret 1: stored-credential]"}')
    expect(redactor.text(`?v=${encodeURIComponent('a"b\\c/d e12345')}&x=1`)).not.toContain('c%2Fd')
  })

  test('of a private key is every line of it', () => {
    const redactor = make()
    const { secret, text } = samples(2).find(({ name }) => name === 'private key')!
    redactor.text(text)
    expect(redactor.text(`grep found: ${secret}`)).toBe('grep found: [secret 1: private-key]')
  })

  test('of a basic authorization is the password in it', () => {
    const redactor = make()
    redactor.text(`Authorization: Basic ${btoa(`app:${password}`)}`)
    expect(redactor.text(`login with ${password}`)).toBe('login with [secret 1: authorization]')
  })

  test('is not replaced elsewhere when it is an ordinary word', () => {
    const redactor = make()
    expect(redactor.text('export DB_PASSWORD=orchestra')).toBe('export DB_PASSWORD=[secret 1: password]')
    expect(redactor.text('the orchestra plays')).toBe('the orchestra plays')
    expect(redactor.text('export DB_PASSWORD=orchestra')).toBe('export DB_PASSWORD=[secret 1: password]')
  })

  test('is forgotten only after thousands of others, and a number is never given twice', () => {
    const redactor = make()
    const many = new Draw(8)
    const seen = new Set<string>()
    for (let index = 0; index < 6_000; index += 1) seen.add(redactor.text(`DB_PASSWORD=${many.word(20)}9`))
    expect(seen.size).toBe(6_000)
    expect(redactor.count).toBe(6_000)
  })
})

describe('values of the host\'s store', () => {
  test('are replaced anywhere, once they are six characters long', () => {
    const redactor = make({ known: ['plain-word', 'abc', 'k3y$x!'] })
    expect(redactor.text('a plain-word, abc and k3y$x!')).toBe('a [secret 1: stored-credential], abc and [secret 2: stored-credential]')
  })

  test('are found among many', () => {
    const known = Array.from({ length: 300 }, (_, index) => new Draw(index).word(24))
    const redactor = make({ known })
    const text = redactor.text(known.map(value => `<${value}>`).join(' and then '))
    expect(known.filter(value => text.includes(value))).toEqual([])
    expect(redactor.count).toBe(300)
  })

  test('leave a placeholder as it is, also when they are a part of its words', () => {
    const redactor = make({ known: ['secret', 'password'] })
    const once = redactor.text(`DB_PASSWORD=${password}`)
    expect(redactor.text(once)).toBe(once)
  })
})

describe('the user\'s patterns', () => {
  test('replace what they match, or the first group of it', () => {
    const redactor = make({ patterns: ['ACME-\\d{4}', 'badge (\\w+) of'] })
    expect(redactor.text('ACME-1234 and badge x7 of him')).toBe('[secret 1: custom] and badge [secret 2: custom] of him')
  })

  test('replace all of it where the group found nothing', () => {
    expect(make({ patterns: ['key=("?)\\w+'] }).text('the key=abcdef of it')).toBe('the [secret 1: custom] of it')
  })

  test('can ignore case', () => {
    expect(make({ patterns: ['(?i)acme-\\d{4}'] }).text('Acme-1234')).toBe('[secret 1: custom]')
  })

  test('that cannot be used are left out and named, the others work', () => {
    const redactor = make({ patterns: ['(', 'ACME-\\d{4}'] })
    expect(redactor.trouble).toEqual([expect.stringMatching(/^redactPatterns: "\(" is left out: .+/)])
    expect(redactor.text('ACME-1234')).toBe('[secret 1: custom]')
  })

  test.each([
    ['', 'it is empty'],
    ['[a-', 'Invalid regular expression'],
    ['a*', 'at least one character'],
    ['x|', 'at least one character'],
    ['(a+)+b', 'take for ever'],
    ['([a-z]*x)*y', 'take for ever'],
    ['(?:a|ab)+c', 'take for ever'],
    ['(\\d{2,})+x', 'take for ever'],
    ['a'.repeat(1_001), 'longer than'],
  ])('%j are refused', (pattern, why) => {
    expect(patternFault(pattern)).toContain(why)
  })

  test.each([
    ['an ordinary one, on a line without an end', '\\w+@corp', 'x'.repeat(200_000)],
    ['one whose steps multiply', '(a?a?)*b', 'a'.repeat(60)],
    ['one whose choices multiply', '(?:a|aa){1,60}b', 'a'.repeat(60)],
  ])('that take too long, as %s, hide the line they are held up at, and find what they look for in the others', (_name, pattern, line) => {
    const hidden = make({ patterns: [pattern] }).text(`first\n${line}\nab@corp, after`)
    expect(hidden.split('\n')).toEqual(['first', '[secret 1: custom]', expect.stringMatching(/^\[secret 2: custom\].*, after$/)])
  })

  test('that take too long hide all of a text where what they look for may stand on several lines', () => {
    expect(make({ patterns: ['(\\w?\\w?)*\\s+of\\s+it'] }).text(`one line\n${'a'.repeat(60)}!\nmore`)).toBe('[secret 1: custom]')
  })

  test('that find more than anybody has secrets hide what is left', () => {
    const hidden = make({ patterns: ['x'] }).text(`${'x '.repeat(10_000)}and x marks the spot`)
    expect(hidden).toMatch(/^\[secret 1: custom\] /)
    expect(hidden).not.toContain('marks')
  })

  test.each(['ACME-\\d+', 'a{2,5}b+', '(?:abc){2}', '(a|b)c+', '[(+*]+x', '\\(a+\\)+', '(?i)key-[a-z]+', '(?<name>\\w+)@corp'])('%j can be used', (pattern) => {
    expect(patternFault(pattern)).toBeUndefined()
  })
})

describe('JSON values', () => {
  test('come back as they are, the very same, when there is nothing to replace', () => {
    const value = { path: 'src/a.ts', list: [1, null, { deep: 'text' }] }
    expect(make().value(value)).toBe(value)
  })

  test('keep their shape, order and other types', () => {
    expect(JSON.stringify(make().value({ b: [true, 2, null], a: { x: `GH=${token}` } })))
      .toBe('{"b":[true,2,null],"a":{"x":"GH=[secret 1: github-token]"}}')
  })

  test('of any depth do no harm', () => {
    let value: unknown = token
    for (let depth = 0; depth < 5_000; depth += 1) value = [value]
    expect(JSON.stringify(make().value(value))).not.toContain(token)
  })
})
