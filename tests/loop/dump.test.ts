/** `/advisor dump`: the reviewers' private conversations in a file that is the user's alone. */
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { mkdtempSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { tmpdir } from 'node:os'
import { expect, onTestFinished, test, vi } from 'vitest'
import { advise, answer, call, text } from '../support/adapter-replies.ts'
import { startRound, entry, roster } from '../support/loop-roster.ts'
import { said, startScene, type Scene, type SceneOptions } from '../support/loop-advised.ts'

const NOTE = 'b.txt is read, the user asked for a.txt.'

interface Dumped {
  readonly answer: string
  readonly path: string
  readonly page: string
}

async function dump(scene: Scene, words = ''): Promise<Dumped> {
  const answer = await scene.advisor(`dump${words}`)
  const path = /^(.*?\.md) \(/.exec(answer)?.[1] ?? ''
  return { answer, path, page: path === '' ? '' : await readFile(path, 'utf8') }
}

/** One step reviewed with a look-up and a note. */
async function reviewed(options: SceneOptions = {}): Promise<Scene> {
  const scene = await startScene({ fs: true, persistence: true, ...options })
  void scene.prompt('Read a.txt')
  await scene.step(0)
  await scene.review(0, answer({ reasoning: 'Which file was it?', text: 'I look.', calls: [call('grep', { pattern: 'wanted' })] }))
  await scene.loop.until(() => scene.reviews.length === 2)
  await scene.review(1, advise(NOTE, 'concern', { quote: 'file-0.txt' }))
  return scene
}

test('compact, it is what was shown and said, each call in one line, and says where it is, how large and how long', async () => {
  const scene = await reviewed()
  const { answer: told, path, page } = await dump(scene)
  expect(told).toMatch(/dump-\d{4}-\d\d-\d\d-\d{6}\.md \([\d.]+ kB, 7 messages\); not copied: this front end has no clipboard for it$/)
  expect(dirname(path)).toMatch(/[/\\]advisor$/)
  expect(page).toMatch(/^# The advisor$/m)
  expect(page).toContain('Model: mock/reviewer')
  expect(page).toContain('State: running')
  expect(page).toMatch(/^## Shown\n\n```\nWorking folder: [^]*\*\*user:\*\* Read a\.txt[^]*→ read\(file-0\.txt\)[^]*```$/m)
  expect(page).toMatch(/^## Said\n\n```\nI look\.\n```\n\n- grep\(wanted\) → (?:no file was searched|no matches|\[)/m)
  expect(page).toContain(`- advise, concern: ${NOTE} (evidence: {"quote":"file-0.txt"}) → Recorded.`)
  for (const left of ['Which file was it?', 'You review a coding agent', '"parameters"']) expect(page).not.toContain(left)
})

test('raw, it also has the system prompt, the tools, the reasoning, and calls with their results in full', async () => {
  const { page } = await dump(await reviewed(), ' raw')
  expect(page).toMatch(/^## System prompt\n\n```+\nYou review a coding agent's work/m)
  expect(page).toMatch(/^## Tools\n\n```+json\n\[[^]*"name": "advise"[^]*"name": "grep"/m)
  expect(page).toMatch(/^Reasoning:\n\n```\nWhich file was it\?\n```$/m)
  expect(page).toMatch(/^Call `grep` \(reviewer-0-0\):\n\n```json\n\{"pattern":"wanted"\}\n```$/m)
  expect(page).toMatch(/^Result of reviewer-1-0:\n\n```\nRecorded\.\n```$/m)
})

test('nothing in it can close the block it stands in', async () => {
  const scene = await startScene()
  void scene.prompt('Look at\n```\ncode\n````\n# The advisor')
  await scene.step(0)
  await scene.review(0)
  const { page } = await dump(scene)
  expect(page).toMatch(/^`````\nWorking folder[^]*\n`````$/m)
})

test.skipIf(process.platform === 'win32')('it is private, and a new file each time, also within one second', async () => {
  const scene = await reviewed()
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const paths = [(await dump(scene)).path, (await dump(scene)).path, (await dump(scene, ' raw')).path]
  expect(paths[1]).toBe(paths[0]!.replace('.md', '-2.md'))
  expect(paths[2]).toBe(paths[0]!.replace('.md', '-3.md'))
  for (const path of paths) expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('where the session\'s folder cannot be written it goes into the temporary one, and says why', async () => {
  const scene = await reviewed()
  const folder = dirname((await dump(scene)).path)
  await rm(folder, { recursive: true })
  await writeFile(folder, 'in the way')
  const { answer: told, path } = await dump(scene)
  onTestFinished(() => rm(dirname(path), { recursive: true, force: true }))
  expect(path.startsWith(tmpdir())).toBe(true)
  expect(told).toMatch(/; not in the session's folder: .*EEXIST|ENOTDIR/)
})

test.skipIf(process.platform === 'win32')('a folder that is a link to somewhere else is not followed', async () => {
  const scene = await reviewed()
  const folder = dirname((await dump(scene)).path)
  const elsewhere = join(scene.loop.home, 'elsewhere')
  await mkdir(elsewhere)
  await rm(folder, { recursive: true })
  await symlink(elsewhere, folder)
  const { answer: told, path } = await dump(scene)
  onTestFinished(() => rm(dirname(path), { recursive: true, force: true }))
  expect(told).toMatch(/not in the session's folder: .* is a link$/)
})

test('before the first review, and while it is off, there is nothing to dump', async () => {
  const scene = await startScene({ primary: () => text('done'), reviewer: () => text('ok') })
  expect(await scene.advisor('dump')).toBe('Nothing to dump yet: no reviewer at work has reviewed anything (running).')
  await scene.prompt('go')
  await scene.loop.until(() => scene.reviews.length === 1)
  await scene.advisor('off')
  expect(await scene.advisor('dump raw')).toMatch(/^Nothing to dump yet: .* \(off\)\. What earlier reviews were shown and said stands in the journals in .*advisor/)
})

test('a further word that it does not know is refused', async () => {
  const scene = await startScene()
  expect(await scene.loop.command(scene.agent, '/advisor dump all')).toEqual({ kind: 'error', text: '/advisor dump knows only `raw` as a further word; got "all".' })
})

test('of a roster, each advisor has its heading, the ones that have seen nothing too', async () => {
  const round = await startRound(['Bugs', 'Style'], roster(entry('Bugs'), entry('Style', { reviewAt: 'turn' })))
  void round.scene.prompt('Read a.txt')
  await round.scene.step(0)
  await round.review('Bugs', 0, advise(NOTE, 'concern'))
  const { page, answer: told } = await dump(round.scene)
  expect(page).toMatch(/^# Advisor Bugs\n[^]*Model: mock\/bugs[^]*advise, concern: b\.txt[^]*^# Advisor Style\n\nState: running\n\nNothing yet/m)
  expect(told).toContain('messages')
})

test.each([true, false])('no secret is in it, with `redact: %s`', async (redact) => {
  const secret = `gh${'p_'}Zk3vR8wQ1xY6mB4nT9cL2sD7fG5hJ0aE8uPq`
  const scene = await startScene({ config: { redact }, prepare: loop => writeFile(join(loop.home, 'WATCHDOG.md'), `The token is ${secret}.`) })
  scene.agent.followup(said(`Deploy with ${secret}`))
  await scene.step(0)
  await scene.review(0, answer({ calls: [call('advise', { note: `The token ${secret} stands in the log.` })] }))
  for (const words of ['', ' raw']) {
    const { page } = await dump(scene, words)
    expect(page).toMatch(/Deploy with \[secret \d+: /)
    expect(page).not.toContain(secret)
  }
})

test.skipIf(process.platform !== 'linux')('at a terminal of this machine\'s desktop it is copied, and what fails is said', async () => {
  const scene = await reviewed()
  scene.loop.ctx.provide('tuiToast', { show: () => true })
  const folder = mkdtempSync(join(tmpdir(), 'advisor-clipboard-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of ['SSH_CONNECTION', 'SSH_TTY', 'WAYLAND_DISPLAY']) vi.stubEnv(name, undefined)
  vi.stubEnv('DISPLAY', ':9')
  vi.stubEnv('PATH', [folder, process.env.PATH].join(delimiter))
  onTestFinished(() => void vi.unstubAllEnvs())
  const tool = join(folder, 'xclip')
  await writeFile(tool, '#!/bin/sh\nexit 1\n')
  await writeFile(join(folder, 'xsel'), `#!/bin/sh\nexit 1\n`)
  for (const name of ['xclip', 'xsel']) await chmod(join(folder, name), 0o700)
  expect((await dump(scene)).answer).toMatch(/; not copied: xclip and xsel failed or are missing$/)
  await writeFile(tool, `#!/bin/sh\n[ "$1 $2" = "-selection clipboard" ] && cat > ${folder}/copied\n`)
  const { answer: told, page } = await dump(scene)
  expect(told).toMatch(/; copied to the clipboard$/)
  expect(await readFile(join(folder, 'copied'), 'utf8')).toBe(page)
})
