// What the advisor has to say goes to stderr. A stderr that takes nothing must not cost the run its answer.

import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createHost, type Host } from '../support/host.ts'
import { httpError, REVIEWER_MODEL, startModelServer, text, toolCalls } from '../support/model-server.ts'

const DSH = createRequire(import.meta.url).resolve('@deepseek-ai/dsh/package.json').replace(/package\.json$/, 'lib/bin.js')

let host: Host
beforeAll(async () => { host = await createHost({ tarball: inject('tarball') }) })
afterAll(() => host.dispose())

test.each<[string, string, string, object]>([
  ['closed by its reader', 'enabled and refused by its provider', '"$@" 2>&1 1>&3 3>&- | true', { provider: 'deepseek-official', model: REVIEWER_MODEL }],
  ['full', 'enabled and refused by its provider', '"$@" 2>/dev/full 1>&3', { provider: 'deepseek-official', model: REVIEWER_MODEL }],
  ['full', 'enabled without a model', '"$@" 2>/dev/full 1>&3', {}],
])('with a stderr that is %s and an advisor that is %s, the answer stands on stdout', async (_state, _advisor, line, model) => {
  await using server = await startModelServer({
    primary: (_, index) => index < 2 ? toolCalls([{ name: 'bash', arguments: { command: `echo ${index}`, description: 'A step' } }]) : text('answer'),
    reviewer: () => httpError(401, { message: 'no such key' }, { delayMs: 50 }),
  })
  host.settings({ advisor: { enabled: true, ...model } })
  const script = `set -o pipefail; { ${line}; } 3>&1`
  const stdout = await new Promise<string>((resolve) => {
    execFile('bash', ['-c', script, 'bash', process.execPath, DSH, '--profile', 'headless', 'Go'],
      { cwd: host.work, env: host.env({ server }), timeout: 50_000 }, (_error, out) => { resolve(out) })
  })
  expect(stdout).toBe('answer\n')
  expect(server.of('primary')).toHaveLength(3)
})
