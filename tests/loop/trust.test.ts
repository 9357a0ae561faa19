/** `/advisor trust`: what a cloned project's files ask for counts only when the user has seen it and said yes. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { text } from '../support/adapter-replies.ts'
import { startScene, type Scene, type SceneOptions } from '../support/loop-advised.ts'
import { ESCAPE, mountQuestions, type Answerer } from '../support/loop-questions.ts'

const WISHES = 'advisors:\n  - name: Layers\n    model: other/big:high\n    tools: [read, bash]\n  - name: Plain\n'
const ASKED = ['WATCHDOG.yml: "Layers" asks for model other/big:high', 'WATCHDOG.yml: "Layers" asks for tools bash']
const MEANS = 'Models cost money, and tools beyond read, grep and glob can change things.'
const GRANTED = 'Trusted: WATCHDOG.yml. `/advisor untrust` takes it back.'

interface Cloned extends Scene { readonly file: string }

/** A session in a repository that came with this file. */
async function clone(content: string | null = WISHES, config: SceneOptions['config'] = {}): Promise<Cloned> {
  const scene = await startScene({ primary: () => text('done'), reviewer: () => text('ok'), config })
  await mkdir(join(scene.loop.cwd, '.git'))
  const file = join(scene.loop.cwd, 'WATCHDOG.yml')
  if (content !== null) await writeFile(file, content)
  return Object.assign(scene, { file })
}

/** What counts of the model and the tools of its advisor. */
async function counts(scene: Scene): Promise<string> {
  const shown = await scene.advisor('config')
  const [, advisor = ''] = shown.split('Advisor "Layers"')
  return ['provider', 'model', 'tools'].map(key => new RegExp(`\n  ${key}: (.*)`).exec(advisor)?.[1]).join('; ')
}

const IGNORED = 'mock (row); reviewer (row); read (WATCHDOG.yml)'
const COUNTED = 'other (WATCHDOG.yml); big (WATCHDOG.yml); read, bash (WATCHDOG.yml)'

test('it shows what the files ask for and asks; what is trusted counts at once and is remembered', async () => {
  const scene = await clone()
  const user: Answerer = await mountQuestions(scene.loop)
  expect(await counts(scene)).toBe(IGNORED)
  user.will('Trust it')
  expect(await scene.advisor('trust')).toBe(GRANTED)
  expect(user.asked).toHaveLength(1)
  expect(user.shown).toContain(['Trust what this project\'s WATCHDOG files ask for?', ...ASKED, MEANS].join('\n'))
  expect(await counts(scene)).toBe(COUNTED)
  expect(await scene.advisor('trust')).toBe('Nothing here asks for trust. Trusted: WATCHDOG.yml; `/advisor untrust` takes it back.')
  expect(JSON.parse(await readFile(join(scene.loop.home, 'advisor', 'trusted.json'), 'utf8'))).toMatchObject({ trusted: { [scene.file]: expect.any(String) } })

  const later = await scene.loop.agent()
  expect(await scene.advisor('config', later)).toContain('  model: big (WATCHDOG.yml)')
})

test.each<[string, typeof ESCAPE | string]>([['a no', 'Do not trust it'], ['leaving the question', ESCAPE]])('%s changes nothing', async (_, reply) => {
  const scene = await clone()
  const user = await mountQuestions(scene.loop)
  user.will(reply)
  expect(await scene.advisor('trust')).toBe('Not trusted; nothing was changed.')
  expect(await counts(scene)).toBe(IGNORED)
})

test('without a dialog it says what is asked for and which words decide', async () => {
  const scene = await clone()
  expect(await scene.advisor('trust')).toBe(['This project\'s WATCHDOG files ask for:', ...ASKED, MEANS, '`/advisor trust yes` lets it count.'].join('\n'))
  expect(await counts(scene)).toBe(IGNORED)
  expect(await scene.advisor('trust YES')).toBe(GRANTED)
  expect(await counts(scene)).toBe(COUNTED)
})

test('a changed wish asks again; a change of anything else does not', async () => {
  const scene = await clone()
  await scene.advisor('trust yes')
  await writeFile(scene.file, `# a comment\n${WISHES}    reviewAt: turn\n`)
  expect(await counts(scene)).toBe(COUNTED)
  await writeFile(scene.file, WISHES.replace('bash', 'bash, write'))
  expect(await counts(scene)).toBe(IGNORED)
  expect(await scene.advisor('trust')).toContain('WATCHDOG.yml: "Layers" asks for tools bash, write')
})

test('a file that changes while the question stands is not trusted with what was not shown', async () => {
  const scene = await clone()
  const user = await mountQuestions(scene.loop)
  user.will({ first: () => writeFile(scene.file, WISHES.replace('bash', 'write')), then: 'Trust it' })
  expect(await scene.advisor('trust')).toBe('Trusted WATCHDOG.yml as shown, but a file has changed since and asks again: `/advisor trust`.')
  expect(await counts(scene)).toBe(IGNORED)
})

test.each(['untrust', 'trust no'])('`%s` takes it back at once', async (words) => {
  const scene = await clone()
  await scene.advisor('trust yes')
  expect(await scene.advisor(words)).toBe('No longer trusted: WATCHDOG.yml.')
  expect(await counts(scene)).toBe(IGNORED)
  expect(await scene.advisor(words)).toBe('Nothing here was trusted by command.')
})

test('a folder that the settings trust asks for nothing and cannot be untrusted by command', async () => {
  const scene = await clone(WISHES, { trustedWorkspaces: ['/'] })
  expect(await counts(scene)).toBe(COUNTED)
  expect(await scene.advisor('trust')).toContain('Nothing here asks for trust.')
  expect(await scene.advisor('untrust')).toBe('Nothing here was trusted by command. WATCHDOG.yml: trusted by `trustedWorkspaces` in the settings.')
})

test('where no file asks for anything it says so', async () => {
  const scene = await clone(null)
  expect(await scene.advisor('trust')).toBe('Nothing here asks for trust.')
  expect(await scene.advisor('trust yes')).toBe('Nothing here asks for trust.')
  await writeFile(scene.file, 'advisors:\n  - name: Layers\n    tools: [read]\n')
  expect(await scene.advisor('trust')).toBe('Nothing here asks for trust.')
})

test('another word, or more wishes than a person looks through, trusts nothing', async () => {
  const scene = await clone()
  expect(await scene.advisor('trust maybe')).toBe('/advisor trust takes yes or no; got "maybe".')
  const many = Array.from({ length: 25 }, (_, at) => `  - { name: A${at}, model: other/big, tools: [bash] }\n`)
  await writeFile(scene.file, `advisors:\n${many.join('')}`)
  expect(await scene.advisor('trust yes')).toMatch(/^This project's WATCHDOG files have 72 wishes, too many to look through\. Nothing was trusted;/)
  expect(await scene.advisor('config')).toContain('not trusted')
})

test('trust that cannot be remembered is an error and grants nothing', async () => {
  const scene = await clone()
  await writeFile(join(scene.loop.home, 'advisor'), 'in the way')
  expect(await scene.advisor('trust yes')).toMatch(/^Trust cannot be remembered: .+\.$/)
  expect(await scene.advisor('untrust')).toMatch(/^Trust cannot be remembered: .+\.$/)
  expect(await counts(scene)).toBe(IGNORED)
})
