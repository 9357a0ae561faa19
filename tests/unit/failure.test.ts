import { describe, expect, test } from 'vitest'
import type { LlmFailure } from '@deepseek-ai/dsh-llm'
import { billedFor, classifyFailure, LONGEST_WAIT_MS, type FailureHistory } from '../../src/review/failure.ts'

const NONE: FailureHistory = { attempts: 0, waits: 0, drops: 0, cleared: false }

function decide(failure: Partial<LlmFailure>, history: Partial<FailureHistory> = {}) {
  return classifyFailure({ code: 'UNKNOWN', message: 'it broke', ...failure }, { ...NONE, ...history })
}

const kind = (failure: Partial<LlmFailure>, history?: Partial<FailureHistory>): string => decide(failure, history).kind

describe('a rate limit', () => {
  const limits = [{ code: 'RATE_LIMIT', status: 429 }, { code: 'RATE_LIMIT' }, { code: 'HTTP_429', status: 429 }]

  test.each(limits)('%j is waited out as long as the provider says, up to a minute', (limit) => {
    for (const providerRetryAfterMs of [1, 5_000, 60_000]) {
      expect(decide({ ...limit, providerRetryAfterMs })).toMatchObject({ kind: 'wait', ms: providerRetryAfterMs })
    }
  })

  test.each(limits)('%j of more than a minute pauses, and the time is kept', (limit) => {
    for (const providerRetryAfterMs of [60_001, 61_000, 3_600_000]) {
      expect(decide({ ...limit, providerRetryAfterMs })).toMatchObject({ kind: 'pause', retryMs: providerRetryAfterMs })
    }
  })

  test('that names no time is waited out longer each time, never more than a minute, and then pauses', () => {
    const decisions = [0, 1, 2, 3, 4, 5, 6, 7].map(waits => decide({ code: 'RATE_LIMIT', status: 429 }, { waits }))
    const waits = decisions.flatMap(decision => decision.kind === 'wait' ? [decision.ms] : [])
    expect(waits.length).toBeGreaterThanOrEqual(3)
    expect(waits.every((ms, index) => ms > (waits[index - 1] ?? 0) && ms <= LONGEST_WAIT_MS)).toBe(true)
    for (const decision of decisions.slice(waits.length)) expect(decision).toMatchObject({ kind: 'pause', retryMs: undefined })
  })

  test('with a short time is not waited out for ever: the sixth wait is the last', () => {
    const decisions = [0, 1, 2, 3, 4, 5, 6, 7].map(waits => kind({ code: 'RATE_LIMIT', providerRetryAfterMs: 5_000 }, { waits }))
    expect(decisions).toEqual([...Array(6).fill('wait'), 'pause', 'pause'])
  })

  test('keeps its batch whatever was tried before', () => {
    for (const history of [{ attempts: 1 }, { drops: 2 }, { cleared: true }]) {
      expect(kind({ code: 'RATE_LIMIT', providerRetryAfterMs: 5_000 }, history)).toBe('wait')
    }
  })
})

/** Failure, history, decision. */
const TABLE: [string, Partial<LlmFailure>, Partial<FailureHistory>, string][] = [
  ['quota', { code: 'QUOTA', status: 429 }, {}, 'pause'],
  ['quota without a status', { code: 'QUOTA' }, { attempts: 1, waits: 3 }, 'pause'],
  ['payment required', { code: 'HTTP_402', status: 402 }, {}, 'pause'],
  ['payment required, as the host names it', { code: 'QUOTA', status: 402 }, { drops: 2 }, 'pause'],

  ['401', { code: 'AUTH', status: 401 }, {}, 'halt'],
  ['403', { code: 'AUTH', status: 403 }, {}, 'halt'],
  ['400', { code: 'INVALID_REQUEST', status: 400 }, {}, 'halt'],
  ['413', { code: 'INVALID_REQUEST', status: 413 }, {}, 'halt'],
  ['404', { code: 'HTTP_404', status: 404 }, {}, 'halt'],
  ['401 after failures', { code: 'AUTH', status: 401 }, { attempts: 1, drops: 2 }, 'halt'],
  ['401 under a code that says nothing', { code: 'UNKNOWN', status: 401 }, {}, 'halt'],
  ['400 under a code that says nothing', { code: 'UNKNOWN', status: 400 }, {}, 'halt'],
  ['no credential', { code: 'MISSING_CREDENTIAL' }, {}, 'halt'],
  ['a broken credential', { code: 'INVALID_CREDENTIAL' }, {}, 'halt'],
  ['a code that nobody knows', { code: 'PI_AI_ERROR' }, {}, 'halt'],
  ['a status that is no error', { code: 'ODD', status: 302 }, {}, 'halt'],
  ['content the model does not take', { code: 'UNSUPPORTED_CONTENT' }, {}, 'halt'],

  ['the context window, first', { code: 'CONTEXT_WINDOW_EXCEEDED', status: 400 }, {}, 'clear'],
  ['the context window after a failed attempt', { code: 'CONTEXT_WINDOW_EXCEEDED' }, { attempts: 1 }, 'clear'],
  ['the context window again', { code: 'CONTEXT_WINDOW_EXCEEDED', status: 400 }, { cleared: true }, 'skip'],

  ['no adapter', { code: 'NO_ADAPTER' }, {}, 'no-model'],
  ['an unknown model', { code: 'UNKNOWN_MODEL' }, { attempts: 1, drops: 2 }, 'no-model'],
]

test.each(TABLE)('%s', (_name, failure, history, expected) => {
  expect(kind(failure, history)).toBe(expected)
})

test('a known time is kept with a quota too', () => {
  expect(decide({ code: 'QUOTA', status: 429, providerRetryAfterMs: 7_200_000 })).toMatchObject({ kind: 'pause', retryMs: 7_200_000 })
  expect(decide({ code: 'QUOTA' })).toMatchObject({ kind: 'pause', retryMs: undefined })
})

describe('a fault that may pass', () => {
  const FAULTS: Partial<LlmFailure>[] = [
    { code: 'SERVER', status: 500 }, { code: 'SERVER', status: 503 }, { code: 'SERVER', status: 529 },
    { code: 'SERVER' }, { code: 'HTTP_500', status: 500 }, { code: 'BAD_GATEWAY', status: 502 },
    { code: 'TIMEOUT' }, { code: 'TRANSPORT' }, { code: 'STREAM_CLOSED' }, { code: 'EMPTY_RESPONSE' }, { code: 'MALFORMED_RESPONSE' },
    { code: 'UNKNOWN' }, { code: 'ABORTED' }, { code: 'HTTP_408', status: 408 }, { code: 'HTTP_425', status: 425 },
  ]

  test.each(FAULTS)('%j is tried once more, then the batch is dropped, and with the third batch in a row the backlog', (fault) => {
    const first = [0, 1, 2, 9].map(drops => kind(fault, { drops }))
    expect(first).toEqual(['retry', 'retry', 'retry', 'retry'])
    const second = [0, 1, 2, 3, 9].map(drops => kind(fault, { attempts: 1, drops }))
    expect(second).toEqual(['drop', 'drop', 'flush', 'flush', 'flush'])
  })

  test('is never tried a second time, whatever else was tried', () => {
    for (const attempts of [1, 2, 5]) {
      expect(kind({ code: 'SERVER', status: 500 }, { attempts, waits: 3, cleared: true })).toBe('drop')
    }
  })

  test('after a conversation was cleared has its one retry still', () => {
    expect(kind({ code: 'TIMEOUT' }, { cleared: true })).toBe('retry')
  })
})

describe('the reason', () => {
  test('names code, status and the provider\'s words on one line', () => {
    expect(decide({ code: 'AUTH', status: 401, message: 'no\n  such key' }).reason).toBe('AUTH (HTTP 401): no such key')
    expect(decide({ code: 'TIMEOUT', message: 'late' }).reason).toBe('TIMEOUT: late')
  })

  test('is bounded, and does not end inside a character', () => {
    for (const pad of ['', 'x']) {
      const { reason } = decide({ code: 'SERVER', message: pad + '😀'.repeat(5_000) })
      expect(reason.length).toBeLessThan(300)
      expect(reason.isWellFormed()).toBe(true)
    }
  })
})

describe('what a call was billed', () => {
  const reported = { inputTokens: 5, outputTokens: 1 }

  test.each<Partial<LlmFailure>>([{ code: 'NO_ADAPTER' }, { code: 'UNKNOWN_MODEL' }, { code: 'AUTH', status: 401 }, { code: 'RATE_LIMIT', status: 429 }, { code: 'SERVER', status: 503 }])(
    'is nothing when it is refused: %j', (failure) => {
      expect(billedFor({ failure: { message: '', code: '', ...failure }, usage: undefined })).toEqual({ inputTokens: 0, outputTokens: 0 })
    },
  )

  test.each<Partial<LlmFailure>>([{ code: 'TIMEOUT' }, { code: 'TRANSPORT' }, { code: 'STREAM_CLOSED' }])('is unknown when it breaks off: %j', (failure) => {
    expect(billedFor({ failure: { message: '', code: '', ...failure }, usage: undefined })).toBeUndefined()
  })

  test('is unknown when it was given up, or when the provider tells nothing', () => {
    expect(billedFor({ usage: undefined })).toBeUndefined()
  })

  test('is what the provider told, whatever came of it', () => {
    expect(billedFor({ usage: reported })).toBe(reported)
    expect(billedFor({ failure: { code: 'SERVER', status: 500, message: '' }, usage: reported })).toBe(reported)
  })
})
