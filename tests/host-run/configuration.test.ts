// What a user writes into the two places of configuration, on the published host: what it does, and what is said when it is wrong.

import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { createHost, type Host } from '../support/host.ts'
import { REVIEWER_MODEL, startModelServer, text, toolCalls, type ModelServer } from '../support/model-server.ts'

const ON = { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL, syncBacklog: 1 }
const ANSWER = { code: 0, stdout: 'answer\n' }

let host: Host
let server: ModelServer

beforeAll(async () => {
  host = await createHost({ tarball: inject('tarball') })
})
afterAll(() => host.dispose())

beforeEach(async () => {
  host.patch([])
  host.settings({})
  server = await startModelServer({
    primary: (_, index) => index === 0 ? toolCalls([{ name: 'bash', arguments: { command: 'true', description: 'A step' } }]) : text('answer'),
  })
})
afterEach(() => server.close())

const run = () => host.run('Do the job', { server })

test('as installed, the advisor is off: no call is made and nothing is said', async () => {
  expect(await run()).toMatchObject({ ...ANSWER, stderr: '' })
  expect(server.of('reviewer')).toEqual([])
})

test('the row alone switches it on', async () => {
  host.patch([{ id: 'advisor', config: ON }])
  expect(await run()).toMatchObject({ ...ANSWER, stderr: '' })
  expect(server.of('reviewer')).toHaveLength(2)
})

test('settings.yaml wins over the row, key by key', async () => {
  host.patch([{ id: 'advisor', config: { ...ON, model: 'another', effort: 'max' } }])
  host.settings({ advisor: { model: REVIEWER_MODEL } })
  expect(await run()).toMatchObject({ ...ANSWER, stderr: '' })
  expect(server.of('reviewer').map(({ body }) => body['reasoning_effort'])).toEqual(['max', 'max'])
})

test('the environment switches one run on or off without touching a file', async () => {
  host.settings({ advisor: { ...ON, enabled: false } })
  expect(await host.run('Do the job', { server, env: { DSH_ADVISOR: 'on' } })).toMatchObject({ ...ANSWER, stderr: '' })
  expect(server.of('reviewer')).toHaveLength(2)
  expect(await host.run('Do the job', { server, env: { DSH_ADVISOR: 'off' } })).toMatchObject({ ...ANSWER, stderr: '' })
  expect(server.of('reviewer')).toHaveLength(2)
})

test.each([
  ['an unknown key', { enabled: true, foo: 1 }, /unknown key "foo"/],
  ['a wrong type', { enabled: 'yes' }, /enabled.*expected boolean but got yes/],
  ['a value out of bounds', { notesPerUpdate: 9 }, /notesPerUpdate.*9/],
])('%s in the row stops the host with a message that names it', async (_, config, message) => {
  host.patch([{ id: 'advisor', config }])
  const { code, stdout, stderr } = await run()
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('dsh-advisor')
  expect(stderr).toMatch(message)
  expect(server.requests).toEqual([])
})

test.each([
  ['an unknown key', { ...ON, foo: 1 }, /foo/],
  ['a wrong type', { ...ON, reviewEvery: 'often' }, /reviewEvery.*often/],
  ['a value out of bounds', { ...ON, reviewEvery: 0 }, /reviewEvery/],
  ['no mapping', 'on', /advisor/],
])('%s in settings.yaml switches the advisor off, says why, and lets the run go on', async (_, section, message) => {
  host.settings({ advisor: section })
  const { stderr, ...result } = await run()
  expect(result).toMatchObject(ANSWER)
  expect(server.of('reviewer')).toEqual([])
  expect(stderr).toMatch(/^dsh-advisor: /)
  expect(stderr).toMatch(message)
})

test('switched on without a model, it says what is missing and makes no call', async () => {
  host.settings({ advisor: { enabled: true } })
  const { stderr, ...result } = await run()
  expect(result).toMatchObject(ANSWER)
  expect(server.of('reviewer')).toEqual([])
  expect(stderr).toMatch(/^dsh-advisor: .*`provider` and `model`/)
})

/** The plugin a second time, as a user gets it who adds a row by hand. */
const TWICE = [{ id: 'advisor', config: ON }, { insert: [{ id: 'advisor-2', name: 'dsh-advisor', config: ON }] }]

test('two rows of the plugin in one profile review each step once', async () => {
  host.patch(TWICE)
  expect(await run()).toMatchObject(ANSWER)
  expect(server.of('primary')).toHaveLength(2)
  expect(server.of('reviewer')).toHaveLength(2)
})

test('of two rows, one line says which is at work', async () => {
  host.patch(TWICE)
  expect((await run()).stderr).toMatch(/^dsh-advisor: .+\n$/)
})

test('a row that is disabled is as good as removed', async () => {
  host.settings({ advisor: ON })
  host.patch([{ id: 'advisor', disabled: true }])
  expect(await run()).toMatchObject({ ...ANSWER, stderr: '' })
  expect(server.of('reviewer')).toEqual([])
})

test('--dump-config shows the row, with the layer it comes from', async () => {
  const dump = await host.dsh(['--profile', host.profile, '--dump-config'])
  expect(dump).toMatchObject({ code: 0, stderr: '' })
  expect(dump.stdout.match(/^# == dsh-advisor\n([^#]*)/m)?.[1]).toBe('- id: advisor\n  name: dsh-advisor\n')
})
