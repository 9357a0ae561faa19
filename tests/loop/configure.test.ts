/** `/advisor configure` through the host's own question service: what the user answers, and what then stands in the file. */
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { text } from '../support/adapter-replies.ts'
import { holdTime, startScene, type Scene, type SceneOptions } from '../support/loop-advised.ts'
import { ESCAPE, mountQuestions, SILENCE, type Answerer, type Reply } from '../support/loop-questions.ts'

const FILE = [
  '# our reviewers', 'advisors:', '  - name: Layers   # dear', '    model: mock/reviewer', '    # tools as by default', '',
  '  - name: Tests', '    enabled: false', '    instructions: |', '      Is it tested?', '',
].join('\n')

interface Asked extends Scene { readonly user: Answerer, readonly file: string }

const TRUSTED = { trustedWorkspaces: ['/'] }

/** A session in a trusted repository with this file, and a user who can be asked. */
async function start(content: string | null = FILE, config: SceneOptions['config'] = TRUSTED): Promise<Asked> {
  const scene = await startScene({ primary: () => text('done'), reviewer: () => text('ok'), config })
  await mkdir(join(scene.loop.cwd, '.git'))
  const file = join(scene.loop.cwd, 'WATCHDOG.yml')
  if (content !== null) await writeFile(file, content)
  return Object.assign(scene, { user: await mountQuestions(scene.loop), file })
}

async function configure(scene: Asked, ...replies: Reply[]): Promise<string> {
  scene.user.will(...replies)
  const said = await scene.advisor('configure')
  expect(scene.user.left).toBe(0)
  return said
}

const read = (scene: Asked): Promise<string> => readFile(scene.file, 'utf8')

test('an advisor is added, with what the user says, below those that are there', async () => {
  const scene = await start()
  const said = await configure(scene, 'WATCHDOG.yml', 'Add an advisor', 'Security', 'Look for secrets: keys, tokens.',
    'reviewAt', 'turn', 'notesPerUpdate', '2', 'maxSeverity', 'concern', 'reviewEvery', '3', 'immuneTurns', '0', 'agents', 'main', 'Back', 'Save')
  expect(said).toBe([
    'Saved WATCHDOG.yml: added "Security"; "Security": reviewAt turn; "Security": notesPerUpdate 2; "Security": maxSeverity concern',
    '"Security": reviewEvery 3; "Security": immuneTurns 0; "Security": agents main.',
  ].join('; '))
  expect(await read(scene)).toBe(`${FILE}\n${[
    '  - name: Security', '    instructions: "Look for secrets: keys, tokens."', '    reviewAt: turn', '    notesPerUpdate: 2',
    '    maxSeverity: concern', '    reviewEvery: 3', '    immuneTurns: 0', '    agents: [main]', '',
  ].join('\n')}`)
  expect(scene.user.requests.every(({ agent }) => agent === scene.agent)).toBe(true)
})

test('what is saved counts at once', async () => {
  const scene = await start(null)
  expect(await scene.advisor('config')).toContain('Advisors: one, as in the settings')
  expect(await configure(scene, 'WATCHDOG.yml', 'Add an advisor', 'Security', 'Look for secrets.', 'Back', 'Save')).toBe('Saved WATCHDOG.yml: added "Security".')
  expect(await scene.advisor('config')).toContain('Advisor "Security" (security), of WATCHDOG.yml:')
  expect(await scene.advisor('status')).toContain('Security')
})

test('pause, resume, rename and every other change leave the rest of the file alone', async () => {
  const scene = await start()
  expect(await configure(scene, 'WATCHDOG.yml', 'Layers', 'Pause it', 'Back', 'Tests', 'Resume it', 'name', 'Checks', 'instructions', 'Add to it', 'And is it run?', 'Back', 'Save'))
    .toBe('Saved WATCHDOG.yml: paused "Layers"; resumed "Tests"; renamed "Tests" to "Checks"; "Checks": instructions changed.')
  expect(await read(scene)).toBe(FILE
    .replace('    model: mock/reviewer\n', '    model: mock/reviewer\n    enabled: false\n')
    .replace('name: Tests\n    enabled: false\n', 'name: Checks\n').replace('Is it tested?\n', 'Is it tested?\n      And is it run?\n'))
})

test('shared instructions are set and taken away', async () => {
  const scene = await start()
  await configure(scene, 'WATCHDOG.yml', 'Shared instructions', 'Be brief.', 'Save')
  expect(await read(scene)).toBe(`${FILE}instructions: Be brief.\n`)
  expect(await configure(scene, 'WATCHDOG.yml', 'Shared instructions', 'Remove it', 'Save')).toBe('Saved WATCHDOG.yml: shared instructions removed.')
  expect(await read(scene)).toBe(FILE)
})

test('a session in which nothing is changed does not touch the file', async () => {
  const scene = await start(`\ufeff${FILE.replaceAll('\n', '\r\n')}`)
  const before = await stat(scene.file)
  expect(await configure(scene, 'WATCHDOG.yml', 'Layers', 'model', 'mock/reviewer', 'Back', 'Done')).toBe('Nothing was changed.')
  expect(await configure(scene, 'WATCHDOG.yml', 'Layers', 'Pause it', 'Resume it', 'Back', 'Done')).toBe('Nothing was changed.')
  expect(await stat(scene.file)).toMatchObject({ mtimeMs: before.mtimeMs, ino: before.ino })
})

test.each<[string, Reply[]]>([
  ['at the first question', [ESCAPE]],
  ['in the list', ['WATCHDOG.yml', 'Layers', 'Pause it', 'Back', ESCAPE]],
  ['in the midst of a new advisor', ['WATCHDOG.yml', 'Add an advisor', 'Security', ESCAPE]],
  ['at a value', ['WATCHDOG.yml', 'Layers', 'Pause it', 'tools', ESCAPE]],
  ['by choice', ['WATCHDOG.yml', 'Layers', 'Pause it', 'Back', 'Leave without saving']],
  ['when the file would go', ['WATCHDOG.yml', 'Layers', 'Remove it', 'Tests', 'Remove it', 'Save', ESCAPE]],
])('leaving %s changes nothing and says so', async (_, replies) => {
  const scene = await start()
  expect(await configure(scene, ...replies)).toBe('Nothing was changed.')
  expect(await read(scene)).toBe(FILE)
})

test('a value beyond the limits is refused by name and asked again', async () => {
  const scene = await start()
  const seen: string[] = []
  const look = (then: string): Reply => ({ first: () => seen.push(scene.user.shown), then })
  await configure(scene, 'WATCHDOG.yml', 'Layers',
    'reviewEvery', '0', look('many'), look('7'), 'model', 'gpt', look('mock/reviewer:high'), 'name', 'tests', look('Structure'),
    'reviewAt', 'never', look('step'), 'Back', 'Save')
  expect(seen.map(one => one.split('\n')[1])).toEqual([
    'Refused "0": `reviewEvery` is 0; allowed: a whole number from 1 to 1000.',
    'Refused "many": `reviewEvery` is NaN; allowed: a whole number from 1 to 1000.',
    'Refused "gpt": `model` is "gpt"; allowed: provider/model or provider/model:effort.',
    'Refused "tests": another one of this file has this name.',
    'Refused "never": `reviewAt` is "never"; allowed: step, mutation or turn.',
  ])
  expect(await read(scene)).toBe(FILE.replace('Layers ', 'Structure ').replace('mock/reviewer', 'mock/reviewer:high')
    .replace('    # tools', '    reviewEvery: 7\n    reviewAt: step\n    # tools'))
})

test('models are those of the host, tools the three, none, and those of the session by name', async () => {
  const scene = await start()
  const seen: string[] = []
  const look = (then: Reply): Reply => ({ first: () => seen.push(scene.user.shown), then })
  await configure(scene, 'WATCHDOG.yml', 'Layers', 'model', look('As in the settings'),
    'tools', look(['read', 'bash', 'fly']), 'tools', look(['none', 'grep']), look('none'), look('Back'), 'Save')
  expect(seen[0]).toContain('[As in the settings] mock/reviewer\n[mock/primary] ')
  expect(seen[1]).toMatch(/Now: read, grep, glob\.[^]*Others of this session, to be typed: .*bash[^]*\[read\] \n\[grep\] \n\[glob\] \n\[none\] /)
  expect(seen[2]).toContain('Now: read, bash, fly.')
  expect(seen[3]).toContain('Refused "grep, none": `none` goes with no other.')
  expect(await read(scene)).toBe(FILE.replace('    model: mock/reviewer\n', '    tools: []\n'))
})

const NEEDS = 'WATCHDOG.yml belongs to the project: its models, and tools beyond read, grep, glob, count only after `/advisor trust`.'

test('what is typed counts more than the choice that was in focus, and a typed label is that choice', async () => {
  const scene = await start()
  await configure(scene, 'watchdog.yml', 'Layers', 'model', ['As in the settings', 'mock/other'], 'reviewEvery', ['As in the settings', '4'],
    ['name', 'back'], 'Tests', 'instructions', ['Another text', 'Is it run?'], 'instructions', ['Add to it', 'Twice?'], 'BACK', 'Save')
  expect(await read(scene)).toBe(FILE.replace('mock/reviewer', 'mock/other\n    reviewEvery: 4').replace('Is it tested?', 'Is it run?\n      Twice?').replace('instructions: |', 'instructions: |-'))
})

test('in a folder that is not trusted, a model or a further tool says at once that it needs trust', async () => {
  const scene = await start(FILE, {})
  const seen: string[] = []
  const look = (then: Reply): Reply => ({ first: () => seen.push(scene.user.shown), then })
  const said = await configure(scene, 'WATCHDOG.yml', 'Tests',
    'model', look('mock/primary'), look('tools'), look(['read', 'fly']), look('tools'), ['read'], look('Back'), 'Save')
  expect(seen.map(one => one.includes(NEEDS))).toEqual([true, true, true, true, false])
  expect(seen[3]).toContain(`${NEEDS} This session has no tool fly.`)
  expect(said).toMatch(/^Saved WATCHDOG\.yml, which waits for `\/advisor trust`: /)
})

test('in the user\'s own file they count without a word, in every project', async () => {
  const scene = await start(null, {})
  const own = join(scene.loop.home, 'WATCHDOG.yml')
  const look: Reply = { first: () => expect(scene.user.shown).not.toContain('trust'), then: 'Back' }
  expect(await configure(scene, own, 'Add an advisor', 'Mine', 'Watch.', 'model', 'mock/reviewer', look, 'Save'))
    .toBe(`Saved ${own}: added "Mine"; "Mine": model mock/reviewer.`)
  expect(await readFile(own, 'utf8')).toBe('advisors:\n  - name: Mine\n    instructions: Watch.\n    model: mock/reviewer\n')
})

test('the last advisor goes: the file is removed only when that is confirmed', async () => {
  const one = '# mine\nadvisors:\n  - name: A\n'
  const scene = await start(one)
  expect(await configure(scene, 'WATCHDOG.yml', 'A', 'Remove it', 'Save', 'Keep it, empty')).toBe('Saved WATCHDOG.yml: removed "A".')
  expect(await read(scene)).toBe('# mine\n')
  await writeFile(scene.file, one)
  expect(await configure(scene, 'WATCHDOG.yml', 'A', 'Remove it', 'Save', 'Remove it')).toBe('Removed WATCHDOG.yml: removed "A".')
  await expect(stat(scene.file)).rejects.toThrow('ENOENT')
})

test('a file that was changed meanwhile is not overwritten', async () => {
  const scene = await start()
  const theirs = `${FILE}# theirs\n`
  expect(await configure(scene, 'WATCHDOG.yml', 'Layers', 'Pause it', 'Back', { first: () => writeFile(scene.file, theirs), then: 'Save' }))
    .toBe('WATCHDOG.yml was changed by someone else in the meantime; nothing was changed.')
  expect(await read(scene)).toBe(theirs)
})

test('a file with errors, or one that is none, is not edited, and the place of the error is named', async () => {
  const scene = await start('advisors:\n  - name: A\n  b: [\n')
  expect(await configure(scene, { first: () => expect(scene.user.shown).toContain('this project\'s; has an error in line 3'), then: 'WATCHDOG.yml' }))
    .toMatch(/^WATCHDOG\.yml:3:\d+: .*Nothing was changed; repair the file by hand first\.$/)
  await rm(scene.file)
  await symlink('/etc/passwd', scene.file)
  expect(await configure(scene, 'WATCHDOG.yml')).toBe('WATCHDOG.yml is a link that leads out of the project; nothing was changed.')
})

test('an entry that is skipped is listed with its reason and can be removed', async () => {
  const scene = await start('advisors:\n  - name: A\n  - naem: B\n  - 5\n')
  await configure(scene, 'WATCHDOG.yml', { first: () => expect(scene.user.shown).toContain('[advisor 2] line 3. Skipped as it is: unknown key `naem`'), then: 'advisor 2' },
    'Remove it', 'advisor 2', 'Remove it', 'Save')
  expect(await read(scene)).toBe('advisors:\n  - name: A\n')
})

test('the nearest file of the repository stands first, the user\'s own last', async () => {
  const scene = await start()
  const deep = join(scene.loop.cwd, 'a', 'b')
  await mkdir(join(scene.loop.cwd, 'a', '.dsh'), { recursive: true })
  await mkdir(deep)
  await writeFile(join(scene.loop.cwd, 'a', '.dsh', 'WATCHDOG.yaml'), 'advisors: []\n')
  const agent = await scene.loop.agent({ cwd: deep })
  scene.user.will(ESCAPE)
  await scene.advisor('configure', agent)
  const options = scene.user.asked.at(-1)?.options ?? []
  expect(options.slice(0, 2).map(({ label, description }) => `${label}: ${description}`)).toEqual([
    'a/.dsh/WATCHDOG.yaml: this project\'s; 0 advisors', 'WATCHDOG.yml: this project\'s; 2 advisors',
  ])
  expect(options[2]?.description).toBe('yours, for all projects; not there yet')
  expect(options).toHaveLength(3)
})

const BY_HAND = /^There is no dialog here \((.*)\)\. Edit a file; it counts from the next review on\.\nFor this project: (.*)\nFor all projects: (.*)\nFor example.*:\n(advisors:\n[^]*)$/

test('without a dialog it says which files to edit, and with what', async () => {
  const scene = await startScene({ primary: () => text('done'), reviewer: () => text('ok') })
  const [, reason, project, own, example] = BY_HAND.exec(await scene.advisor('configure')) ?? []
  expect([reason, project, own]).toEqual(['this front end has no question dialog', join(scene.loop.cwd, 'WATCHDOG.yml'), join(scene.loop.home, 'WATCHDOG.yml')])
  await writeFile(join(scene.loop.cwd, 'WATCHDOG.yml'), example ?? '')
  expect(await scene.advisor('config')).toContain('Advisor "Architecture" (architecture), of WATCHDOG.yml:')
  expect(await scene.advisor('config')).not.toContain('skipped')
})

test('a dialog without anybody behind it, or that refuses a subagent, is none', async () => {
  const scene = await startScene({ primary: () => text('done'), reviewer: () => text('ok') })
  const user = await mountQuestions(scene.loop, false)
  expect(BY_HAND.exec(await scene.advisor('configure'))?.[1]).toBe('no user-questions provider is registered')
  scene.loop.ctx.userQuestions.registerProvider(user)
  const child = await scene.loop.agent({ parent: scene.agent })
  expect(BY_HAND.exec(await scene.advisor('configure', child))?.[1]).toContain('owned by another live agent')
  expect(user.asked).toEqual([])
})

test('a user who does not answer is not waited for without end, and the question is taken back', async () => {
  const scene = await start()
  const time = holdTime()
  scene.user.will('WATCHDOG.yml', 'Layers', 'Pause it', SILENCE)
  const said = scene.advisor('configure')
  await scene.loop.until(() => scene.user.asked.length === 4, 'four questions')
  await time.pass(10 * 60_000)
  expect(await said).toBe('Nothing was changed: nobody answered within 10 minutes.')
  expect(scene.user.requests.at(-1)?.signal?.aborted).toBe(true)
  expect(await read(scene)).toBe(FILE)
})

test('a command that is given up takes its question back', async () => {
  const scene = await start()
  const given = new AbortController()
  scene.user.will('WATCHDOG.yml', SILENCE)
  const running = scene.loop.ctx.commands.execute(scene.agent, '/advisor configure', [], given.signal)
  await scene.loop.until(() => scene.user.asked.length === 2, 'two questions')
  given.abort(new Error('the page is gone'))
  await expect(running).rejects.toThrow('the page is gone')
  await scene.loop.settle()
  expect(scene.user.requests.at(-1)?.signal?.aborted).toBe(true)
})

test('a file that may not be written stays as it is, and the reason is said', async () => {
  const scene = await start()
  const folder = scene.loop.cwd
  await chmod(folder, 0o555)
  try {
    const said = await configure(scene, 'WATCHDOG.yml', 'Layers', 'Pause it', 'Back', 'Save')
    // Whoever runs the tests as root may write everywhere.
    if (process.getuid?.() !== 0) expect(said).toMatch(/^WATCHDOG\.yml cannot be written: .*; nothing was changed\.$/)
  } finally {
    await chmod(folder, 0o755)
  }
})
