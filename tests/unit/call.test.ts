import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LlmError } from '@deepseek-ai/dsh-llm'
import { callModel, describeModel, type CallResult } from '../../src/review/call.ts'
import { HandClock, turns } from './support/clock.ts'
import { failed, FakeModel, INFO, REQUEST, stop, text, toolCall, USAGE, usage } from './support/model.ts'

let model: FakeModel
let clock: HandClock
let controller: AbortController
beforeEach(() => {
  model = new FakeModel()
  clock = new HandClock()
  controller = new AbortController()
})

/** What every call leaves behind: no timer, no listener, no open stream, and a provider that was told. */
afterEach(() => {
  expect(clock.pending).toEqual([])
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  for (const call of model.calls) expect([call.returned, call.request.signal?.aborted]).toEqual([true, true])
})

/** Start one call. `settled` says whether it has ended. */
function start(timeoutMs = 90_000): { result: Promise<CallResult>, settled(): boolean } {
  const result = callModel(model, REQUEST, { timeoutMs, clock, signal: controller.signal })
  let over = false
  void result.then(() => { over = true })
  return { result, settled: () => over }
}

describe('a reply', () => {
  test('is the assembled message with what it used', async () => {
    const { result } = start()
    model.last.send(text('Lo'), text('ok.'), toolCall('{"note":'), toolCall('"x"}'), usage, stop).end()
    expect(await result).toMatchObject({
      kind: 'reply', usage: USAGE, cut: false,
      message: {
        role: 'assistant', source: { kind: 'model', provider: 'p', model: 'm' },
        content: [{ type: 'text', text: 'Look.' }, { type: 'tool-call', name: 'advise', arguments: '{"note":"x"}' }],
      },
    })
  })

  test('needs no usage', async () => {
    const { result } = start()
    model.last.send(text('ok'), stop).end()
    expect(await result).toMatchObject({ kind: 'reply', usage: undefined })
  })

  test('that reached the output limit says so', async () => {
    const { result } = start()
    model.last.send(text('Lo'), usage, { type: 'finish', reason: { kind: 'max-tokens' } }).end()
    expect(await result).toMatchObject({ kind: 'reply', cut: true, message: { content: [{ text: 'Lo' }] } })
  })

  test('with nothing in it, from a provider that reports usage, is silence', async () => {
    const { result } = start()
    model.last.send(usage, failed({ code: 'EMPTY_RESPONSE' })).end()
    expect(await result).toMatchObject({ kind: 'reply', usage: USAGE, message: { content: [] } })
  })

  test('keeps what the adapter needs to replay it', async () => {
    const { result } = start()
    model.last.send(text('ok'), { type: 'finish', reason: { kind: 'stop' }, replayState: { response: { id: 'r1' } } }).end()
    expect(await result).toMatchObject({ message: { source: { replayState: { response: { id: 'r1' } } } } })
  })

  test('goes out as it was asked for, with a signal of our own', async () => {
    const { result } = start()
    const { request } = model.last
    expect(request).toMatchObject({ provider: 'p', model: 'm', system: 's', messages: [] })
    expect(request.signal).not.toBe(controller.signal)
    model.last.send(text('ok'), stop).end()
    await result
  })
})

describe('a failure', () => {
  const limit = { code: 'RATE_LIMIT', status: 429, providerRetryAfterMs: 5_000 }

  test.each([
    ['of the provider', failed(limit), limit],
    ['of an empty stream', failed({ code: 'EMPTY_RESPONSE' }), { code: 'EMPTY_RESPONSE' }],
    ['of a provider that gave up by itself', failed({ code: 'ABORTED' }, 'aborted'), { code: 'ABORTED' }],
  ])('%s is given as it is', async (_name, finish, failure) => {
    const { result } = start()
    model.last.send(finish).end()
    expect(await result).toMatchObject({ kind: 'failed', failure, usage: undefined })
  })

  test('after tokens were used still says how many', async () => {
    const { result } = start()
    model.last.send(text('Lo'), usage, failed({ code: 'SERVER', status: 500 })).end()
    expect(await result).toMatchObject({ kind: 'failed', failure: { code: 'SERVER', status: 500 }, usage: USAGE })
  })

  test.each([[[]], [[text('Lo')]], [[toolCall('{"note":"x"}')]], [[text('ok'), usage]]])(
    'a stream that ends without a finish is broken: %j', async (chunks) => {
      const { result } = start()
      model.last.send(...chunks).end()
      expect(await result).toMatchObject({ kind: 'failed', failure: { code: 'STREAM_CLOSED' } })
    })

  test.each([
    ['an error of the host', new LlmError('busy', 'SERVER', { status: 503 }), { code: 'SERVER', status: 503, message: 'busy' }],
    ['any other error', new TypeError('fetch failed'), { code: 'UNKNOWN', message: 'fetch failed' }],
    ['a text', 'gone', { code: 'UNKNOWN', message: 'gone' }],
    ['nothing', undefined, { code: 'UNKNOWN' }],
    ['an error with a code of its own', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), { code: 'UNKNOWN', message: 'reset' }],
  ])('%s that is thrown is a failure, not a throw', async (_name, thrown, failure) => {
    const { result } = start()
    model.last.send(text('Lo')).throw_(thrown)
    expect(await result).toMatchObject({ kind: 'failed', failure })
  })

  test('of a service that throws at once is a failure too', async () => {
    model.stream = () => { throw new LlmError('no such route', 'NO_ADAPTER') }
    expect(await start().result).toMatchObject({ kind: 'failed', failure: { code: 'NO_ADAPTER' } })
  })

  test.each([
    ['text', text('x'.repeat(10_000))], ['arguments', toolCall('x'.repeat(10_000))], ['nothing', text('')],
  ])('that goes on and on with %s is given up, and the provider let go of', async (_what, chunk) => {
    let isOpen = true
    const endless = async function* () {
      try { for (;;) yield chunk } finally { isOpen = false }
    }
    const service = { stream: endless, resolveModelInfo: () => Promise.reject(new Error('not asked')), listProviders: () => [] }
    const result = await callModel(service, REQUEST, { timeoutMs: 90_000, clock, signal: controller.signal })
    expect(result).toMatchObject({ kind: 'failed', failure: { code: 'MALFORMED_RESPONSE', message: 'the reply had no end' } })
    await turns()
    expect(isOpen).toBe(false)
  })

  test('a chunk that nobody knows is a failure', async () => {
    const { result } = start()
    model.last.send({ type: 'hologram' } as never)
    expect(await result).toMatchObject({ kind: 'failed', failure: { code: 'UNKNOWN' } })
  })
})

describe('a deadline', () => {
  test('holds for the first byte after 30 seconds, also when the provider ignores its signal', async () => {
    const { result, settled } = start()
    await clock.advance(29_999)
    expect(settled()).toBe(false)
    await clock.advance(1)
    expect(await result).toMatchObject({ kind: 'failed', failure: { code: 'TIMEOUT', message: expect.stringContaining('30 s') } })
    expect(model.last.request.signal?.aborted).toBe(true)
  })

  test('holds to the end of the call, however steadily it streams', async () => {
    const { result, settled } = start(90_000)
    for (let second = 0; second < 89; second += 1) {
      model.last.send(text('x'))
      await clock.advance(1_000)
    }
    expect(settled()).toBe(false)
    await clock.advance(1_000)
    expect(await result).toMatchObject({ kind: 'failed', failure: { code: 'TIMEOUT', message: expect.stringContaining('90 s') } })
    expect(model.last.request.signal?.aborted).toBe(true)
  })

  test('after the first byte is the one to the end', async () => {
    const { result, settled } = start(90_000)
    model.last.send(text('x'))
    await turns()
    await clock.advance(89_999)
    expect(settled()).toBe(false)
    model.last.send(stop).end()
    expect(await result).toMatchObject({ kind: 'reply' })
  })

  test('shorter than 30 seconds holds for the first byte too', async () => {
    const { result, settled } = start(5_000)
    await clock.advance(4_999)
    expect(settled()).toBe(false)
    await clock.advance(1)
    expect(await result).toMatchObject({ kind: 'failed', failure: { code: 'TIMEOUT', message: expect.stringContaining('5 s') } })
  })

  test('is over with the call: nothing happens to the signal while it runs', async () => {
    const { result } = start()
    model.last.send(text('ok'), stop).end()
    expect(model.last.request.signal?.aborted).toBe(false)
    await result
    await clock.advance(1_000_000)
  })
})

describe('an abort', () => {
  test('ends a call that waits for its first byte, even when the provider ignores its signal', async () => {
    const { result } = start()
    controller.abort(new Error('off'))
    expect(await result).toEqual({ kind: 'aborted' })
    expect(model.last.request.signal?.aborted).toBe(true)
  })

  test('ends a call in the middle of a stream', async () => {
    const { result } = start()
    model.last.send(text('Lo'))
    await turns()
    controller.abort()
    expect(await result).toEqual({ kind: 'aborted' })
  })

  test('is an abort also for a provider that answers it with a failure at once', async () => {
    const { result } = start()
    const call = model.last
    call.request.signal?.addEventListener('abort', () => call.send(failed({ code: 'ABORTED' }, 'aborted')).end())
    controller.abort()
    expect(await result).toEqual({ kind: 'aborted' })
  })

  test('before the call means no waiting at all', async () => {
    controller.abort()
    expect(await start().result).toEqual({ kind: 'aborted' })
  })

  test('gives the provider an error of ours as the reason, never the one it came with', async () => {
    const reason = Object.freeze({ kind: 'user' })
    const { result } = start()
    controller.abort(reason)
    await result
    expect(model.last.request.signal?.reason).toBeInstanceOf(Error)
    expect(model.last.request.signal?.reason).not.toBe(reason)
  })

  test('after the end changes nothing', async () => {
    const { result } = start()
    model.last.send(text('ok'), stop).end()
    expect(await result).toMatchObject({ kind: 'reply' })
    controller.abort()
  })
})

test('a provider that fails after it was given up is nobody\'s unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const listen = (reason: unknown): void => { unhandled.push(reason) }
  process.on('unhandledRejection', listen)
  const { result } = start()
  await clock.advance(30_000)
  await result
  model.last.throw_(new Error('late'))
  await turns()
  process.off('unhandledRejection', listen)
  expect(unhandled).toEqual([])
})

test('a stream without a way to let go of it is no trouble', async () => {
  const { result } = start()
  const call = model.last
  Object.defineProperty(call, 'return', { value: undefined })
  call.send(text('ok'), stop).end()
  expect(await result).toMatchObject({ kind: 'reply' })
  model.calls.length = 0
})

describe('asking about a model', () => {
  const ask = () => describeModel(model, 'p', 'm', { timeoutMs: 90_000, clock, signal: controller.signal })

  test('gives what the adapter says', async () => {
    expect(await ask()).toEqual({ kind: 'info', info: INFO })
  })

  test.each(['UNKNOWN_MODEL', 'NO_ADAPTER', 'MISSING_CREDENTIAL'])('gives %s as a failure', async (code) => {
    model.info = () => Promise.reject(new LlmError('no', code))
    expect(await ask()).toMatchObject({ kind: 'failed', failure: { code } })
  })

  test('does not wait for ever', async () => {
    model.info = () => new Promise(() => {})
    const asked = ask()
    await clock.advance(30_000)
    expect(await asked).toMatchObject({ kind: 'failed', failure: { code: 'TIMEOUT' } })
  })

  test('can be given up', async () => {
    model.info = () => new Promise(() => {})
    const asked = ask()
    controller.abort()
    expect(await asked).toEqual({ kind: 'aborted' })
  })
})
