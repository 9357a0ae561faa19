// WATCHDOG files in the published terminal front end: what reviewers are told, and `/advisor trust`, `configure` and `status` as a
// user at the keyboard has them.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Host } from '../support/host.ts'
import { REVIEWER_MODEL, text } from '../support/model-server.ts'
import { missingTerminal, type Terminal } from '../support/terminal.ts'
import { createTuiHost, openTui } from '../support/tui.ts'
import { roster, startRoster, systemOf, write, type RosterServer } from './watchdog-run.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, syncBacklog: 1 }
/** The panel of a question is gone. */
const CLOSED = /^(?![^]*Question 1\/1)/

/** What a person may have written in an editor of another system. */
const UGLY = ['\ufeff# the team\'s own', '', 'advisors:   # in no order', '  - {name: Layers,   instructions: "no cycles" }', '', '  # the next one sleeps',
  '  - name: \'Money\'', '    enabled: false   # for now', '    tools: [ read,grep ]', '', ''].join('\r\n')

const POLL = { timeout: 20_000, interval: 40 }

/** One installation for all. */
let host: Host
let folders = 0

/** A repository of its own with these files, the terminal in it, and the models. */
async function open(files: Readonly<Record<string, string>>) {
  const repo = join(host.root, `repo-${folders++}`)
  mkdirSync(repo)
  execFileSync('git', ['init', '--quiet'], { cwd: repo })
  write(repo, files)
  let answers = 0
  const server: RosterServer = await startRoster({ agent: () => text(`answer number ${++answers}`) })
  const tui = await openTui(host, repo, server).catch(async (error: unknown) => {
    await server.close()
    throw error
  })
  return {
    repo, server, tui,
    /** A message of the user, up to the answer and the reviews of it by these advisors. */
    async prompt(...slugs: string[]) {
      const reviews = slugs.map(slug => server.by(slug).length + 1)
      await tui.type('Go on')
      await tui.press('Enter', `answer number ${answers + 1}`)
      await expect.poll(() => slugs.map(slug => server.by(slug).length), POLL).toEqual(reviews)
    },
    [Symbol.asyncDispose]: async () => {
      await tui.stop()
      await server.close()
    },
  }
}

async function command(tui: Terminal, line: string, then: string | RegExp): Promise<string> {
  await tui.type(line)
  return tui.press('Enter', then)
}

describe.skipIf(missingTerminal !== undefined)(`in the terminal${missingTerminal === undefined ? '' : ` (left out: ${missingTerminal})`}`, () => {
  beforeAll(async () => {
    host = await createTuiHost(inject('tarball'))
    host.settings({ advisor: ON })
  }, 300_000)
  afterAll(() => host?.dispose())

  test('guidance is in the reviewer\'s prompt, from the next review on when it is edited, and nowhere in the agent\'s', async () => {
    await using session = await open({ 'WATCHDOG.md': 'GUIDANCE one.' })
    const { server, repo, prompt } = session
    await prompt('')
    write(repo, { 'WATCHDOG.md': 'GUIDANCE two.' })
    await prompt('')
    expect(server.by('').map(request => /GUIDANCE \w+/.exec(systemOf(request))?.[0])).toEqual(['GUIDANCE one', 'GUIDANCE two'])
    for (const { bodyText } of [...server.agent, ...server.of('title')]) expect(bodyText).not.toContain('GUIDANCE')
  })

  test('Enter alone does not trust; what is trusted counts from the next review on', async () => {
    await using session = await open({ 'WATCHDOG.yml': roster({ name: 'Layers', model: 'deepseek-official/deepseek-chat', tools: ['read', 'bash'] }) })
    const { server, tui, prompt } = session
    await tui.see('advisor: WATCHDOG.yml: not trusted (`/advisor trust` shows what it asks for')
    const asked = await command(tui, '/advisor trust', '❯● Do not trust it')
    expect(asked).toContain('WATCHDOG.yml: "Layers" asks for model deepseek-official/deepseek-chat')
    expect(asked).toContain('WATCHDOG.yml: "Layers" asks for tools bash')
    await tui.press('Enter', 'Not trusted; nothing was changed.')
    expect(existsSync(join(host.home, 'advisor/trusted.json'))).toBe(false)
    await prompt('layers')

    await command(tui, '/advisor trust', '❯● Do not trust it')
    await tui.press('Down', '❯● Trust it')
    await tui.press('Enter', 'Trusted: WATCHDOG.yml.')
    await prompt('layers')
    expect(server.by('layers').map(({ body }) => ({ model: body.model, bash: body.tools?.some(tool => tool.function.name === 'bash') }))).toEqual([
      { model: REVIEWER_MODEL, bash: false }, { model: 'deepseek-chat', bash: true },
    ])
  })

  test('`/advisor configure` adds an advisor to the project\'s file and leaves the rest of it as it was', async () => {
    await using session = await open({ 'WATCHDOG.yml': UGLY })
    const { repo, server, tui, prompt } = session
    await command(tui, '/advisor configure', '❯● WATCHDOG.yml')
    await tui.press('Enter', '❯● Layers')
    await tui.press('Down', '❯● Money')
    await tui.press('Down', '❯● Add an advisor')
    await tui.press('Enter', 'What is the advisor called?')
    await tui.type('Speed')
    await tui.press('Enter', 'What should "Speed" watch for?')
    await tui.type('No work in loops.')
    await tui.press('Enter', '"Speed": what should change?')
    await tui.type('Back', '：Back')
    expect(await tui.press('Enter', 'Not saved yet:')).toContain('- added "Speed"')
    expect(readFileSync(join(repo, 'WATCHDOG.yml'), 'utf8')).toBe(UGLY)
    await tui.type('Save', '：Save')
    await tui.press('Enter', 'Saved WATCHDOG.yml: added "Speed".')

    expect(readFileSync(join(repo, 'WATCHDOG.yml'), 'utf8')).toBe(`${UGLY.slice(0, -'\r\n'.length)}  - name: Speed\r\n    instructions: No work in loops.\r\n\r\n`)
    await prompt('layers', 'speed')
    expect(server.slugs()).toEqual(['layers', 'speed'])
  })

  test('`/advisor configure` without a change, or left by Esc anywhere, leaves the file byte for byte', async () => {
    await using session = await open({ 'WATCHDOG.yml': UGLY })
    const { repo, tui } = session
    const path = join(repo, 'WATCHDOG.yml')
    const { ino, mtimeMs } = statSync(path)
    const start = () => command(tui, '/advisor configure', '❯● WATCHDOG.yml')
    const menu = async () => {
      await start()
      await tui.press('Enter', '❯● Layers')
    }

    await menu()
    await tui.type('Done', '：Done')
    await tui.press('Enter', 'Nothing was changed.')
    // At the first question, in the menu, in an entry.
    await start()
    await tui.press('Escape', CLOSED)
    await menu()
    await tui.press('Escape', CLOSED)
    await menu()
    await tui.press('Enter', '"Layers": what should change?')
    await tui.press('Escape', CLOSED)
    // With a change that is not saved.
    await menu()
    await tui.press('Enter', '"Layers": what should change?')
    await tui.press('Down', '❯● Pause it')
    await tui.press('Enter', 'Resume it')
    await tui.press('Escape', CLOSED)
    await menu()
    await tui.type('Add an advisor', '：Add an advisor')
    await tui.press('Enter', 'What is the advisor called?')
    await tui.type('Speed')
    await tui.press('Enter', 'What should "Speed" watch for?')
    await tui.press('Escape', CLOSED)

    // A command that still ran would be in the way of the next.
    await command(tui, '/advisor trust', 'Nothing here asks for trust.')
    expect(readFileSync(path, 'utf8')).toBe(UGLY)
    expect(statSync(path)).toMatchObject({ ino, mtimeMs })
  })

  test('`/advisor status` fits one line, and `on` names every advisor', async () => {
    await using session = await open({ 'WATCHDOG.yml': roster({ name: 'Layers' }, { name: 'Money' }) })
    const { tui, prompt } = session
    await prompt('layers', 'money')
    await command(tui, '/advisor status', /Advisor: running .*Layers: running; deepseek-official\/deepseek-v4-pro/)
    await command(tui, '/advisor on', 'Advisor on for this session: Layers, Money (running).')
  })
})
