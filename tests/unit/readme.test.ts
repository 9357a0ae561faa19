/** The READMEs say what the product says: its texts word for word, its keys with their defaults in its order. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { defaults } from '../../src/config/schema.ts'
import { advisoryText } from '../../src/deliver/message.ts'
import { ADVISE_TOOL, systemText } from '../../src/review/prompt.ts'

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const flat = (text: string) => text.replace(/\s+/g, ' ')

test.each(['README.md', 'README.zh.md'])('%s shows the texts that the models read', (name) => {
  const text = flat(read(name))
  expect(text).toContain(flat(systemText(defaults, { guidance: '', instructions: '' }, 'look')))
  expect(text).toContain(ADVISE_TOOL.description)
  expect(text).toContain(advisoryText({ text: '', severity: 'concern', advisors: [] }, 0).split('\n')[0])
})

test.each(['README.md', 'README.zh.md'])('%s lists every key with its default, in order', (name) => {
  const rows = [...read(name).matchAll(/^\| (`[^|]+`) \| `([^|`]*)` \|/gm)]
    .flatMap(([, keys, value]) => [...(keys ?? '').matchAll(/`(\w+)`/g)].map(([, key]) => [key, value]))
    .filter(([key]) => key !== undefined && Object.hasOwn(defaults, key))
  expect(rows.map(([key]) => key)).toEqual(Object.keys(defaults))
  for (const [key, value] of rows) expect(value?.replace(/^''$/, ''), key).toBe(String(defaults[key as keyof typeof defaults]))
})
