// Advisors of different kinds in one profile of the published host, and one process that switches the advisor on by itself: the host
// boots, and one line says who reviews and why.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { createHost, type Host, type LaunchOptions } from '../support/host.ts'
import { advise, empty, REVIEWER_MODEL, text, toolCalls } from '../support/model-server.ts'
import { bash, notes, startLines } from './moments-line.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, evidence: 'off', syncBacklog: 1 }
const NOTE = 'The files in src/old are still imported.'

/** One step, then the answer; the reviewer speaks about the step. */
async function run(host: Host, options: LaunchOptions = {}) {
  await using server = await startLines({
    primary: (_, index) => index === 0 ? toolCalls([bash('echo step 1')]) : text('answer'),
    reviewer: (_, index) => index === 0 ? advise(NOTE, 'concern') : empty(),
  })
  const result = await host.run('Clean up the sources', { ...options, server })
  return { ...result, primary: server.primary.requests, reviews: server.reviewer.requests }
}

/** A package that owns what its environment says of our names, as another advisor would. */
function writeRival(host: Host): string {
  const folder = join(host.root, 'second-opinion')
  mkdirSync(folder)
  const write = (name: string, content: string) => { writeFileSync(join(folder, name), content) }
  write('package.json', JSON.stringify({
    name: 'dsh-second-opinion', version: '1.0.0', type: 'module',
    exports: { '.': './index.js', './cordis.patch.yml': './cordis.patch.yml', './package.json': './package.json' },
    dsh: { bundle: { patch: './cordis.patch.yml' } },
  }))
  write('cordis.patch.yml', '- insert:\n    - id: second-opinion\n      name: dsh-second-opinion\n')
  write('index.js', `
import z from '@deepseek-ai/schemastery'
export const name = 'second-opinion'
export const inject = ['commands', 'settings']
export function apply(ctx) {
  const owns = process.env.SECOND_OPINION
  if (owns === 'nothing') throw new Error('no opinion')
  if (owns === 'command') ctx.commands.register({ name: 'advisor', description: 'A second opinion', handler: () => ({ kind: 'success' }) })
  if (owns === 'settings') ctx.settings.register('advisor', z.object({ tone: z.string().default('dry') }), { base: {} })
}
`)
  return `file:${folder}`
}

describe('in a fresh home', () => {
  let host: Host

  beforeAll(async () => {
    host = await createHost({ tarball: inject('tarball') })
  })
  afterAll(() => host.dispose())
  beforeEach(() => host.patch([]))

  test('DSH_ADVISOR switches one process on, with model and effort, and no file is there or comes to be', async () => {
    const on = await run(host, { env: { DSH_ADVISOR: 'deepseek-official/deepseek-v4-pro:high' } })
    expect(on).toMatchObject({ code: 0, stdout: 'answer\n', stderr: '' })
    expect(on.reviews.map(({ body }) => [body.model, body['reasoning_effort']])).toEqual(Array(2).fill(['deepseek-v4-pro', 'high']))
    expect(existsSync(join(host.home, 'settings.yaml'))).toBe(false)
    expect((await run(host)).reviews).toEqual([])
  })

  test('a word in DSH_ADVISOR that means nothing leaves the advisor off and says what was expected', async () => {
    const off = await run(host, { env: { DSH_ADVISOR: 'sometimes' } })
    expect(off).toMatchObject({ code: 0, stdout: 'answer\n', reviews: [] })
    expect(off.stderr).toMatch(/^dsh-advisor: .*DSH_ADVISOR.*"sometimes".*\n$/)
  })

  test('of two rows one reviews, and one line says which and why', async () => {
    host.patch([
      { id: 'advisor', disabled: true },
      { insert: [{ id: 'left', name: 'dsh-advisor', config: ON }, { id: 'right', name: 'dsh-advisor', config: ON }] },
    ])
    const twice = await run(host)
    expect(twice).toMatchObject({ code: 0, stdout: 'answer\n' })
    expect(twice.reviews).toHaveLength(2)
    expect(notes(twice.primary.at(-1))).toEqual([`concern: ${NOTE}`])
    expect(twice.stderr).toMatch(/^dsh-advisor: [^\n]*\b(left|right)\b[^\n]*\n$/)
  })
})

describe.each(['before', 'after'])('with another plugin installed %s ours', (order) => {
  let host: Host

  beforeAll(async () => {
    host = await createHost()
    const rival = writeRival(host)
    for (const spec of order === 'before' ? [rival, inject('tarball')] : [inject('tarball'), rival]) await host.add(spec)
    host.patch([{ id: 'advisor', config: ON }])
  })
  afterAll(() => host.dispose())

  test('that owns `/advisor`: the host boots, reviews go on, and one line says so', async () => {
    const both = await run(host, { env: { SECOND_OPINION: 'command' } })
    expect(both).toMatchObject({ code: 0, stdout: 'answer\n' })
    expect(notes(both.primary.at(-1))).toEqual([`concern: ${NOTE}`])
    expect(both.stderr).toMatch(/^dsh-advisor: [^\n]*\/advisor[^\n]*another plugin[^\n]*\n$/)
  })

  test('that owns the settings namespace: the host boots, the row counts, and one line says so', async () => {
    const both = await run(host, { env: { SECOND_OPINION: 'settings' } })
    expect(both).toMatchObject({ code: 0, stdout: 'answer\n' })
    expect(notes(both.primary.at(-1))).toEqual([`concern: ${NOTE}`])
    expect(both.stderr).toMatch(/^dsh-advisor: [^\n]*settings namespace[^\n]*\n$/)
  })

  test('that cannot be loaded: the host says so in its own words, and ours adds none', async () => {
    const env = { SECOND_OPINION: 'nothing' }
    const broken = await run(host, { env })
    const alone = await host.run('Clean up the sources', { env, patch: [{ id: 'advisor', disabled: true }] })
    expect(alone).toMatchObject({ code: 1, stdout: '' })
    expect(broken).toMatchObject({ code: 1, stdout: '', reviews: [] })
    expect(broken.stderr.split('\n')[0]).toBe(alone.stderr.split('\n')[0])
    expect(broken.stderr).not.toMatch(/node_modules\/dsh-advisor\//)
  })
})
