// The harness itself: replies that break the protocol do it as they say, and a host without the plugin works.

import { afterEach, expect, test } from 'vitest'
import { createHost } from '../support/host.ts'
import { advise, cut, emptyBody, garbage, httpError, stall, stallAfter, startModelServer, text } from '../support/model-server.ts'
import type { ModelServer, Reply } from '../support/model-server.ts'

let server: ModelServer

afterEach(() => server.close())

async function ask(content = 'hello', model = 'deepseek-v4-flash', signal?: AbortSignal) {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content }] })
  return fetch(`${server.baseURL}/chat/completions`, { method: 'POST', body, signal: signal ?? null })
}

async function serve(...replies: Reply[]) {
  server = await startModelServer({ primary: (_, index) => replies[index] ?? text('no reply left') })
}

test('an answer ends with its usage and [DONE], and later prompts are billed for what they add', async () => {
  await serve(text('first answer', { reasoning: 'hm' }), text('second'))
  const events = (await (await ask('a'.repeat(400))).text()).trim().split('\n\n')
  await (await ask(`${'a'.repeat(400)} and more`)).text()

  expect(events.at(-1)).toBe('data: [DONE]')
  expect(events.at(-2)).toContain('"prompt_cache_hit_tokens":0')
  const [first, second] = server.requests.map(request => request.usage)
  expect(first).toEqual({ in: Math.ceil(server.requests[0]!.bodyText.length / 4), out: 4, cached: 0 })
  expect(second!.cached).toBeGreaterThan(100)
  expect(server.billed.primary).toEqual({ in: first!.in + second!.in, out: 6, cached: second!.cached })
})

test('each role has its own script and count', async () => {
  server = await startModelServer({ primary: (_, index) => text(`answer ${index}`), reviewer: () => advise('look again', 'concern') })
  await (await ask()).text()
  const note = await (await ask('hello', 'deepseek-v4-pro')).text()
  expect(note).toContain('"name":"advise"')
  expect(await (await ask()).text()).toContain('answer 1')
  expect(server.of('reviewer').map(request => request.index)).toEqual([0])
})

test('an error has its status, headers and JSON body', async () => {
  await serve(httpError(429, { message: 'slow down', code: 'rate_limit_exceeded', headers: { 'retry-after': '7' } }))
  const response = await ask()
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
  expect(await response.json()).toMatchObject({ error: { message: 'slow down', code: 'rate_limit_exceeded' } })
})

test('a cut reply breaks the body after its text and bills nothing', async () => {
  await serve(cut('half an answer'))
  const response = await ask()
  const seen: string[] = []
  const reading = (async () => { for await (const part of response.body!) seen.push(new TextDecoder().decode(part)) })()
  await expect(reading).rejects.toThrow()
  expect(seen.join('')).toContain('half an answer')
  expect(seen.join('')).not.toContain('[DONE]')
  expect(server.billed.primary).toEqual({ in: 0, out: 0, cached: 0 })
  expect(server.requests[0]!.aborted).toBeUndefined()
})

test('stalled replies stay open until the server closes, which is at once', async () => {
  await serve(stall(), stallAfter('some text'))
  const silent = ask()
  await expect.poll(() => server.requests.length).toBe(1)
  const halted = (await ask()).text()
  await server.close()
  await expect(silent).rejects.toThrow()
  await expect(halted).rejects.toThrow()
})

test('a client that leaves is recorded', async () => {
  await serve(stall())
  const client = new AbortController()
  const silent = ask('hello', 'deepseek-v4-flash', client.signal)
  await expect.poll(() => server.requests.length).toBe(1)
  client.abort()
  await expect(silent).rejects.toThrow()
  await expect.poll(() => server.requests[0]!.aborted).toBe(true)
})

test('an empty body is a 200 without a byte, and garbage is not JSON', async () => {
  await serve(emptyBody(), garbage())
  const blank = await ask()
  expect([blank.status, await blank.text()]).toEqual([200, ''])
  const [event = ''] = (await (await ask()).text()).split('\n\n')
  expect(() => JSON.parse(event.slice('data: '.length))).toThrow()
})

test('a host without the plugin answers a task', async () => {
  await serve(text('all good'))
  await using host = await createHost({ server })
  const run = await host.run('say hello')
  expect(run).toMatchObject({ code: 0, stdout: 'all good\n', stderr: '', timedOut: false })
  expect(run.answerAt).toBeLessThanOrEqual(run.exitAt)
  expect(server.of('primary')).toHaveLength(1)
  expect(host.sessions()).toHaveLength(1)
})
