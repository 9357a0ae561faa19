/** `/advisor config` on the host's own settings: which layer a value is said to come from. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ENVIRONMENT_KEY } from '../../src/config/environment.ts'
import { text } from '../support/adapter-replies.ts'
import { startScene } from '../support/loop-advised.ts'

const quiet = { primary: () => text('done'), reviewer: () => text('ok') }

async function lineOf(scene: { advisor(words: string): Promise<string> }, key: string): Promise<string | undefined> {
  return (await scene.advisor('config')).split('\n').find(line => line.startsWith(`  ${key}: `))?.trim()
}

test('row, settings, environment and session each say what is theirs', async () => {
  const scene = await startScene({
    ...quiet, config: { reviewEvery: 2, maxSeverity: 'concern' }, settings: { yaml: 'advisor:\n  reviewEvery: 5\n  reviewAt: step\n' },
  })
  expect(await lineOf(scene, 'enabled')).toBe('enabled: true (row)')
  expect(await lineOf(scene, 'maxSeverity')).toBe('maxSeverity: concern (row)')
  expect(await lineOf(scene, 'reviewEvery')).toBe('reviewEvery: 5 (settings)')
  // The user wrote it, though it is what holds anyway.
  expect(await lineOf(scene, 'reviewAt')).toBe('reviewAt: step (settings)')
  expect(await lineOf(scene, 'reopen')).toBe('reopen: 1 (default)')

  process.env[ENVIRONMENT_KEY] = 'mock/primary'
  onTestFinished(() => void delete process.env[ENVIRONMENT_KEY])
  expect(await lineOf(scene, 'enabled')).toBe('enabled: true (environment)')
  expect(await lineOf(scene, 'model')).toBe('model: primary (environment)')
  expect(await lineOf(scene, 'effort')).toBe('effort: low (default)')
  await scene.advisor('off')
  expect(await lineOf(scene, 'enabled')).toBe('enabled: false (this session)')
})

test('an edit of the settings is in the next answer, also one that changes no value', async () => {
  const scene = await startScene({ ...quiet, config: { reviewEvery: 2 }, settings: { yaml: '# none\n', watch: true } })
  expect(await lineOf(scene, 'reviewEvery')).toBe('reviewEvery: 2 (row)')
  await writeFile(join(scene.loop.home, 'settings.yaml'), 'advisor:\n  reviewEvery: 2\n  timeout: 30\n')
  await vi.waitUntil(async () => await lineOf(scene, 'timeout') === 'timeout: 30 (settings)')
  expect(await lineOf(scene, 'reviewEvery')).toBe('reviewEvery: 2 (settings)')
})

test('settings that are not valid say so, and the row stands in for them', async () => {
  const scene = await startScene({ ...quiet, settings: { yaml: 'advisor:\n  reviewEvery: never\n' } })
  const shown = await scene.advisor('config')
  expect(shown).toMatch(/^Not valid, so nothing runs: settings\.yaml, section `advisor`: .*reviewEvery.*\nSettings:\n/)
  expect(shown).toContain('  provider: mock (row)')
})

test('without settings the row and the defaults are all there is', async () => {
  const scene = await startScene(quiet)
  expect(await lineOf(scene, 'model')).toBe('model: reviewer (row)')
  expect(await lineOf(scene, 'drain')).toBe('drain: 600 (default)')
})
