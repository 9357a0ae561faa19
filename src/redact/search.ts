// One pass over a text that calls whoever knows a word found in it. Built on the first text, not when the plugin is loaded.

import { Assignments } from './assignments.ts'
import type { Found } from './found.ts'
import { KeywordScanner } from './keywords.ts'
import { NAME_WORDS } from './names.ts'
import { PrivateKeys } from './private-keys.ts'
import { SHAPES } from './shapes.ts'
import { BEGINNINGS, readToken } from './tokens.ts'

/** The searches of one text. */
interface Readers {
  readonly text: string
  readonly push: (found: Found) => void
  readonly keys: PrivateKeys
  readonly assignments: Assignments
}

type Call = (readers: Readers, start: number, end: number) => void

const CALLS: readonly (readonly [word: string, call: Call])[] = [
  ...BEGINNINGS.map((beginning): [string, Call] => (
    [beginning.word, ({ text, push }, start, end) => readToken(text, beginning, start, end, push)]
  )),
  ...SHAPES.map(([word, read]): [string, Call] => [word, ({ text, push }, start, end) => read(text, start, end, push)]),
  ...NAME_WORDS.map((word): [string, Call] => [word, ({ assignments }, start, end) => assignments.read(start, end)]),
  ['-----BEGIN ', ({ keys }, start) => keys.begin(start)],
  ['-----END ', ({ keys }, start) => keys.end(start)],
  ['Private-Lines:', ({ keys }, start) => keys.putty(start)],
]

let scanner: KeywordScanner | undefined

/** Everything in a text that looks like a secret, in no order; places may overlap. */
export function search(text: string): Found[] {
  const found: Found[] = []
  const push = (one: Found) => void found.push(one)
  const readers: Readers = { text, push, keys: new PrivateKeys(text, push), assignments: new Assignments(text, push) }
  scanner ??= new KeywordScanner(CALLS.map(([word]) => word))
  scanner.scan(text, (word, start, end) => CALLS[word]![1](readers, start, end))
  return found
}
