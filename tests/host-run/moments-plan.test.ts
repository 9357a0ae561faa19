// Plan mode on a real web host, with rules that allow one file to be written: the reviewer knows the rules, and the planner is
// not interrupted.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { advise, adviseEach, empty, REVIEWER_MODEL, text, toolCalls } from '../support/model-server.ts'
import { bash, lastText, notes, userTexts } from './moments-line.ts'
import { startWeb, type Web, type WebSession } from './moments-web.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off', immuneTurns: 0, notesPerUpdate: 2 }
const SHIPPED = fileURLToPath(new URL('../../node_modules/@deepseek-ai/dsh/config/agent-presets/standard/agent.cordis.yml', import.meta.url))
const ALLOWED = 'Until then write one file only, PLAN.md & nothing else.'
const FILES = 'The plan forgets the imports of src/old.'

let web: Web

beforeAll(async () => {
  web = await startWeb({
    tarball: inject('tarball'), advisor: ON,
    prepare: (host) => {
      const path = join(host.home, '.agent-presets/planner/agent.cordis.yml')
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, readFileSync(SHIPPED, 'utf8').replace(/(section: \|\n)( +)/, `$1$2${ALLOWED}\n\n$2`))
    },
  })
})
afterAll(async () => {
  expect(await web.close()).toBe('')
})

/** A session in plan mode whose agent has drafted its plan in the one file it may write; the review of that is under way. */
async function drafting(): Promise<WebSession> {
  const session = await web.open({}, { preset: 'planner' })
  expect((await session.command('/plan')).text).toContain('Plan mode on')
  await session.prompt('Plan the clean-up')
  session.primary.answer(0, toolCalls([{ name: 'write', arguments: { file_path: join(web.host.work, 'PLAN.md'), content: '# Plan\n' } }]))
  await session.reviewer.asked(0)
  await session.primary.asked(1)
  return session
}

test('the reviewer reads the rules in full, once, beside the write that they allow', async () => {
  const session = await drafting()
  expect(existsSync(join(web.host.work, 'PLAN.md'))).toBe(true)
  session.reviewer.answer(0, empty())
  session.primary.answer(1, toolCalls([bash('ls src')]))
  const [first, second] = [await session.reviewer.asked(0), await session.reviewer.asked(1)]

  const shown = userTexts(first)
  const rules = shown.find(content => content.startsWith('<primary-context kind="plan-mode">'))
  expect(rules).toContain(ALLOWED.replace('&', '&amp;'))
  expect(rules).toContain('Stay in plan mode until exit_plan_mode succeeds')
  expect(shown.slice(shown.indexOf(rules!)).join('\n')).toMatch(/→ write\(.*PLAN\.md.*\)/)
  const again = userTexts(second)
  expect(again.filter(content => content.includes('<primary-context'))).toHaveLength(1)
  expect(again.slice(shown.length)).toContain('[plan mode still in effect]')
})

test('concerns and blockers wait as cards while nits join the next step', async () => {
  const session = await drafting()
  session.reviewer.answer(0, adviseEach([{ note: FILES, severity: 'blocker' }, { note: 'The title says nothing.', severity: 'nit' }]))
  session.primary.answer(1, toolCalls([bash('ls src')]))
  await session.reviewed(1)
  await session.primary.asked(2)
  session.reviewer.answer(1, advise('The tests are not in the plan.', 'concern'))
  await session.reviewed(2)
  expect(await session.advisor('notes')).toMatch(/^#1 blocker, \d+ s ago, kept for the user's next message \(plan mode\).*\n#2 nit/)
  session.primary.answer(2, toolCalls([bash('ls tests')]))
  expect(notes(await session.primary.asked(3))).toEqual(['nit: The title says nothing.'])

  session.reviewer.answer(2, empty())
  session.reviewer.answer(3, empty())
  session.primary.answer(3, text('I need a decision on the old imports.'))
  await session.rest()
  await session.reviewed(4)
  expect(await session.isRunning()).toBe(false)
  expect(await session.turns()).toBe(1)
  await session.prompt('keep them')
  expect(notes(await session.primary.asked(4)).sort()).toEqual([
    `blocker: ${FILES}`, 'concern: The tests are not in the plan.', 'nit: The title says nothing.',
  ])
})

test('a card that waits through the planning goes back to its reviewer, who may take it back', async () => {
  const session = await drafting()
  session.reviewer.answer(0, advise(FILES, 'concern'))
  await session.reviewed(1)
  for (const step of [1, 2, 3]) {
    session.primary.answer(step, toolCalls([bash(`ls ${step}`)]))
    const review = await session.reviewer.asked(step)
    expect(userTexts(review).join('\n').includes('1. concern, 3 steps ago: ' + FILES)).toBe(step === 3)
    if (step === 3) session.reviewer.answer(3, toolCalls([{ name: 'advise', arguments: { note: '', replaces: 1 } }]))
    else session.reviewer.answer(step, empty())
    await session.reviewed(step + 1)
  }
  expect(await session.advisor('notes')).toMatch(/^#1 concern, \d+ s ago, withdrawn by its reviewer: /)
  session.primary.answer(4, text('Here is the plan.'))
  session.reviewer.answer(4, empty())
  await session.rest()
  await session.prompt('go ahead')
  expect(notes(await session.primary.asked(5))).toEqual([])
})

test('when the user leaves plan mode, the next concern interrupts, and the rules are no longer in effect', async () => {
  const session = await drafting()
  session.reviewer.answer(0, empty())
  await session.reviewed(1)
  expect((await session.command('/plan off')).text).toContain('Leaving plan mode')
  session.primary.answer(1, toolCalls([bash('ls src')]))
  await session.reviewer.asked(1)
  session.reviewer.answer(1, advise(FILES, 'concern'))
  await session.reviewed(2)
  await session.primary.asked(2)
  session.primary.answer(2, toolCalls([bash('ls tests')]))
  expect(notes(await session.primary.asked(3))).toEqual([`concern: ${FILES}`])
  expect(lastText(await session.reviewer.asked(2))).not.toContain('plan mode still in effect')
  expect(userTexts(session.reviewer.requests[2]).at(-2)).not.toContain('plan mode still in effect')
})
