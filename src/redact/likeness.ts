// What a value looks like by itself: a word, an example, a reference to something, or random characters.
// It knows nothing of where the value stands.

import { LEAST_PART, PLACEHOLDER } from './found.ts'

/** A value of which no more than this is looked at. */
const LOOKED_AT = 400

/** Words, and values put in the place of a secret; also what code writes where a literal could stand. */
const STAND_IN = new RegExp([
  'example', 'placeholder', '(?:^|[-_ .<])your', 'your[-_ ]', 'change[-_ ]?(?:me|this|it)', 'replace', 'redacted', 'x{5,}', '\\*{3,}', '\\.{3}', '…', '•{2,}', '_{4,}',
  '(?:insert|enter|put|paste)[-_ ]?(?:your|here|the)', '^todo', 'fixme', '(?:^|[^a-z])(?:dummy|sample|fake|mock)', 'masked', 'deadbeef', 'lorem',
  '0123456789', '123456789', 'abcdefgh', '^(?:abc|def)+\\d*$', '^test\\d*$', '^(.)\\1+$',
].join('|'), 'i')

/** What begins, or is, the name of a value and not the value. */
const REFERENCE = new RegExp([
  '^[$<{(\\[]', '^%\\w+%$', '\\$[{(]', '\\{\\{', '%[({]', '#\\{', '<[a-z_ -]{3,}>',
  '^(?:process|import|env|os|sys|system|secrets?|config|vars?|self|this|ctx|req|res|options?|args?|params?|props|state|data|settings|module)[.:\\[]',
  '^(?:op|vault|ref|env|file|keyring|keychain|arn|urn|ssm|aws-ssm|gcp|sops|cordis|https?|wss?|git|data|blob|node|npm):',
  '^[\\w.$]+(?:\\?\\.)?\\(', '^[\\w$]+\\[', '=>', '^(?:new|await|typeof|void|return|function|async) ', '[&|]{2}', '\\?\\?',
].join('|'), 'i')

/** Values of programs and of types. */
const NAMED_VALUES = new Set([
  'true', 'false', 'null', 'none', 'nil', 'undefined', 'string', 'number', 'boolean', 'object', 'any', 'unknown', 'never', 'optional', 'required',
  'on', 'off', 'yes', 'no', 'auto', 'default', 'enabled', 'disabled', 'empty', 'unset', 'str', 'int', 'bool', 'bytes', 'text', 'hidden', 'bearer', 'basic',
])

/** Whether a value stands in a secret's place but is none: an example, a reference, a mask, a word of the language. */
export function isStandIn(value: string): boolean {
  const looked = value.slice(0, LOOKED_AT)
  // A placeholder is no secret, but anybody can write one beside a secret.
  const rest = looked.replace(PLACEHOLDER, '')
  if (rest !== looked) return rest.length < LEAST_PART || isStandIn(rest)
  return NAMED_VALUES.has(looked.toLowerCase()) || STAND_IN.test(looked) || REFERENCE.test(looked)
}

/** Whether a text that was found by its own form is the form's example and no secret. */
export function isExample(token: string): boolean {
  const looked = token.slice(0, LOOKED_AT)
  return /example|x{6,}|your[-_]|placeholder|redacted|\*{3}|\.{3}|0123456789abcdef|1234567890|abcdefghij/i.test(looked)
    || new Set(looked.toLowerCase().replace(/[^a-z0-9]/g, '')).size < 5
}

/** Letters at the end of which a word can be too long to be one. */
const LONGEST_WORD = 20

/** Names that hold a number. */
const NUMBERED_WORD = /base(?:64|32|58)|utf-?(?:8|16)|sha-?\d{1,3}|md5|oauth2|x509|[rhep]s(?:256|384|512)|ed25519|secp256k1|int(?:8|16|32|64)|http2|ipv[46]|i18n|(?<![a-z\d])(?:s3|ec2|k8s|e2e|v\d{1,2})(?![a-z\d])/gi

/** Whether a value is made of words, short numbers and versions only, as names, paths and sentences are. */
export function isWordy(value: string): boolean {
  const pieces = value.slice(0, LOOKED_AT).replace(NUMBERED_WORD, 'word').match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\x00-\x7f]+|[^A-Za-z\d]/g) ?? []
  let words = 0
  let letters = 0
  let joints = 0
  let digits = 0
  for (const [index, piece] of pieces.entries()) {
    if (/^\d/.test(piece)) {
      digits += 1
      // A number in the middle of letters, or a long one, is no part of a name.
      if (piece.length > 4 || isLetter(pieces[index - 1]) && isLetter(pieces[index + 1])) return false
    } else if (isLetter(piece)) {
      if (piece.length > LONGEST_WORD) return false
      words += 1
      letters += piece.length
    } else if (/^[-_./:@ ,]$/.test(piece)) {
      joints += 1
    } else {
      return false
    }
  }
  if (words > 3 && letters / words < 3) return false
  return digits <= 1 + joints
}

function isLetter(piece: string | undefined): boolean {
  return piece !== undefined && /^[A-Za-z]/.test(piece)
}

/** Bits a character, by how often each one occurs. */
export function entropy(value: string): number {
  const looked = value.slice(0, LOOKED_AT)
  const counts = new Map<string, number>()
  for (const unit of looked) counts.set(unit, (counts.get(unit) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= count / looked.length * Math.log2(count / looked.length)
  return bits
}

const UUID = /^\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?$/i
/** Lengths of MD5, SHA-1, SHA-256 and SHA-512 in hexadecimal. */
const DIGEST = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/i

export function isUuid(value: string): boolean {
  return UUID.test(value)
}

/** Whether a value is as long as a usual digest, and may name a commit or a file. */
export function isDigest(value: string): boolean {
  return DIGEST.test(value)
}

/** Letters and figures of one kind that stand together are so few, on average, in what is drawn by chance; in names they are words. */
const DRAWN_PIECE = { short: 3.4, long: 3.6 }
const SHORT = 16

/**
 * Whether a value looks drawn by chance: long enough, of several kinds of characters, not made of words.
 * @param least - characters that it has to have.
 */
export function isRandom(value: string, least: number): boolean {
  if (value.length < least) return false
  const looked = value.slice(0, LOOKED_AT)
  if (/^[0-9a-f]+$/i.test(looked)) return /[a-f]/i.test(looked) && looked.length >= 16 && (looked.match(/\d/g)?.length ?? 0) >= 3 && entropy(looked) > 2.8
  if (isWordy(looked)) return false
  const pieces = looked.replace(NUMBERED_WORD, 'word').match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []
  const drawn = pieces.join('').length / pieces.length <= (looked.length < SHORT ? DRAWN_PIECE.short : DRAWN_PIECE.long)
  // As many bits as most of the characters being different gives.
  return drawn && entropy(looked) > Math.min(3.5, Math.log2(looked.length) * 0.8)
    && (/\d/.test(looked) || looked.length >= 20 && /[a-z]/.test(looked) && /[A-Z]/.test(looked))
}

/** Whether a value, where one is expected, is at least no name: it has figures where names have none. */
export function isOpaque(value: string, least: number): boolean {
  return value.length >= least && !isWordy(value) && (/\d/.test(value) ? entropy(value) > 2.5 : isRandom(value, least))
}
