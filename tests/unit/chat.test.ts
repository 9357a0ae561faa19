import { beforeEach, describe, expect, test } from 'vitest'
import { Redactor } from '../../src/redact/redactor.ts'
import { UNCHANGED } from '../../src/review/calls.ts'
import { extendsIt, shown, Talk, unanswered, type Said } from './support/chat.ts'

const FILE = 'export const rate = 0.9\n'.repeat(40)
const NOTE = 'src/cart.ts leaves the discount out of the sum.'
const OK: Said = { text: 'ok' }
const SERVER = { code: 'SERVER', status: 500 }

const read = (path: string): Said => ({ calls: [['read', { path }]] })
const ADVICE: Said = { calls: [['advise', { note: NOTE, severity: 'concern' }]] }

let talk: Talk
beforeEach(() => {
  talk = new Talk()
  talk.look = () => FILE
})

describe('a review that looks something up', () => {
  test('asks as often as it needs, each request the one before and more, and ends with the first reply that asks nothing', async () => {
    talk.work('I change the rate.')
    expect(await talk.review(read('a.ts'), read('b.ts'), OK)).toEqual({ kind: 'reviewed' })
    expect(talk.requests).toHaveLength(3)
    expect(extendsIt(talk.requests[1]!, talk.requests[0]!)).toBe(true)
    expect(extendsIt(talk.requests[2]!, talk.requests[1]!)).toBe(true)
    expect(talk.tally).toMatchObject({ calls: 3, reviews: 1, silent: 1, noVerdict: 0, lookups: 2 })
    expect(talk.backlog.size).toBe(0)
  })

  test('leaves what it looked up in the conversation, though it ended in silence', async () => {
    talk.work('I change the rate.')
    await talk.review(read('a.ts'), OK)
    talk.work('I go on.')
    await talk.review(OK)
    expect(shown(talk.last)).toContain('read({"path":"a.ts"})')
    expect(shown(talk.last)).toContain(FILE)
    expect(unanswered(talk.last)).toEqual([])
    expect(extendsIt(talk.last, talk.requests[1]!)).toBe(true)
  })

  test('names a result that it has, in the same review and in a later one', async () => {
    talk.work('one')
    await talk.review(read('a.ts'), read('a.ts'), OK)
    talk.work('two')
    await talk.review(read('a.ts'), OK)
    expect(shown(talk.last).split(FILE)).toHaveLength(2)
    expect(shown(talk.last).split(UNCHANGED)).toHaveLength(3)
  })

  test('hands a note on at once, and goes on looking', async () => {
    talk.work('one')
    await talk.review({ calls: [['advise', { note: NOTE, severity: 'concern' }], ['read', { path: 'a.ts' }]] }, OK)
    expect(talk.advised).toMatchObject([{ update: 1, findings: [{ note: NOTE }] }])
    expect(unanswered(talk.last)).toEqual([])
    expect(talk.tally).toMatchObject({ reviews: 1, silent: 0 })
  })

  test('ends with advice that asks nothing, without another request', async () => {
    talk.work('one')
    await talk.review(read('a.ts'), ADVICE)
    expect(talk.requests).toHaveLength(2)
    expect(talk.advised).toHaveLength(1)
    talk.work('two')
    await talk.review(OK)
    expect(shown(talk.last)).toContain('Recorded.')
    expect(unanswered(talk.last)).toEqual([])
  })

  test('tells a reviewer without proof that its blocker weighs less, once', async () => {
    talk.work('one')
    await talk.review({ calls: [['advise', { note: NOTE, severity: 'blocker' }]] })
    expect(talk.advised).toMatchObject([{ findings: [{ severity: 'concern' }] }])
    for (const text of ['two', 'three']) {
      talk.work(text)
      await talk.review(OK)
    }
    expect(shown(talk.last).split('Recorded as a concern')).toHaveLength(2)
  })

  test('tells it with the next update where it has no tools', async () => {
    talk.config = { ...talk.config, tools: [] }
    talk.work('one')
    await talk.review({ text: JSON.stringify({ note: NOTE, severity: 'blocker' }) })
    expect(talk.advised).toMatchObject([{ findings: [{ severity: 'concern' }] }])
    for (const text of ['two', 'three']) {
      talk.work(text)
      await talk.review(OK)
    }
    expect(shown(talk.last).split('[Recorded as a concern')).toHaveLength(2)
    expect(talk.requests.every(({ tools }) => tools === undefined)).toBe(true)
  })

  test('leaves nothing of a reply that is thrown away, and asks for no other', async () => {
    talk.work('one')
    await talk.review(read('a.ts'), { calls: [['advise', { note: 'spam '.repeat(200) }], ['read', { path: 'b.ts' }]] })
    expect(talk.advised).toEqual([])
    expect(talk.lookups).toHaveLength(1)
    expect(talk.tally).toMatchObject({ quarantined: 1, reviews: 1, noVerdict: 1 })
    talk.work('two')
    await talk.review(OK)
    expect(shown(talk.last)).not.toContain('spam')
    expect(unanswered(talk.last)).toEqual([])
  })

  test('is refused once when it has had all its calls, and then ends as silence', async () => {
    talk.config = { ...talk.config, toolCalls: 2 }
    talk.work('one')
    await talk.review(read('a.ts'), read('b.ts'), read('c.ts'), read('d.ts'), read('e.ts'))
    expect(talk.lookups).toHaveLength(2)
    expect(talk.requests).toHaveLength(4)
    expect(shown(talk.last)).toContain('[not run: this review has had all its calls')
    expect(unanswered(talk.last)).toEqual([])
    expect(talk.tally).toMatchObject({ reviews: 1, silent: 1 })
  })

  test('that still speaks when it is ended has said so in its history', async () => {
    talk.config = { ...talk.config, toolCalls: 1 }
    talk.work('one')
    await talk.review(read('a.ts'), read('b.ts'), { calls: [['advise', { note: NOTE, severity: 'concern' }], ['read', { path: 'c.ts' }]] })
    expect(talk.advised).toHaveLength(1)
    talk.work('two')
    await talk.review(OK)
    expect(shown(talk.last)).toContain(NOTE)
    expect(unanswered(talk.last)).toEqual([])
  })

  test('may make many calls at once, of which each is answered and only so many are run', async () => {
    talk.work('one')
    await talk.review({ calls: Array.from({ length: 30 }, (_, index) => ['read', { path: `${index}.ts` }] as const) }, OK)
    expect(talk.lookups).toHaveLength(8)
    expect(unanswered(talk.last)).toEqual([])
  })

  test('has every result of a full reply that speaks too', async () => {
    talk.work('one')
    const calls = Array.from({ length: 8 }, (_, index) => ['read', { path: `${index}.ts` }] as const)
    await talk.review({ calls: [['advise', { note: NOTE }], ...calls] }, OK)
    expect(talk.lookups.length).toBeGreaterThan(5)
    const kept = talk.lookups.filter(line => shown(talk.last).includes(line.slice('read '.length)))
    expect(kept).toEqual(talk.lookups)
  })
})

describe('a call that fails in the middle', () => {
  test('of a review that looks goes on where it was: nothing is looked up twice', async () => {
    talk.work('one')
    expect(await talk.review(read('a.ts'), { fails: SERVER })).toMatchObject({ kind: 'failed' })
    expect(await talk.review(OK)).toEqual({ kind: 'reviewed' })
    expect(talk.lookups).toHaveLength(1)
    expect(talk.requests[2]!.messages).toEqual(talk.requests[1]!.messages)
    expect(talk.tally).toMatchObject({ reviews: 1, failed: 1 })
  })

  test('leaves what came meanwhile for the next review, and loses none of it', async () => {
    talk.work('one')
    await talk.review(read('a.ts'), { fails: SERVER })
    talk.work('two')
    await talk.review(OK)
    expect(shown(talk.last)).not.toContain('two')
    expect(talk.backlog.size).toBe(1)
    await talk.review(OK)
    expect(shown(talk.last).match(/\*\*agent:\*\* (one|two)/g)).toEqual(['**agent:** one', '**agent:** two'])
  })

  test('of a review that was not answered yet is shown what came meanwhile, too', async () => {
    talk.work('one')
    await talk.review({ fails: SERVER })
    talk.work('two')
    await talk.review(OK)
    expect(talk.requests).toHaveLength(2)
    expect(shown(talk.last)).toMatch(/\*\*agent:\*\* one[^]*\*\*agent:\*\* two/)
    expect(talk.backlog.size).toBe(0)
  })

  test('and is given up takes its results with it: they are shown again, not named', async () => {
    talk.work('one')
    await talk.review(read('a.ts'), { fails: SERVER })
    talk.backlog.drop('taken')
    talk.chat.abandon()
    talk.work('two')
    await talk.review(read('a.ts'), OK)
    expect(shown(talk.last)).toContain(FILE)
    expect(shown(talk.last)).not.toContain(UNCHANGED)
  })

  test('tells a remark once, whether the review is tried again or given up', async () => {
    talk.chat.remark('[the user dismissed your note: x]')
    talk.work('one')
    await talk.review({ fails: SERVER })
    talk.backlog.drop('taken')
    talk.chat.abandon()
    for (const text of ['two', 'three']) {
      talk.work(text)
      await talk.review(OK)
    }
    expect(shown(talk.last).split('[the user dismissed')).toHaveLength(2)
  })

  test('delivers what was said before it once', async () => {
    talk.work('one')
    await talk.review({ calls: [['advise', { note: NOTE }], ['read', { path: 'a.ts' }]] }, { fails: SERVER })
    await talk.review(OK)
    expect(talk.advised).toHaveLength(1)
  })
})

describe('a reset', () => {
  const reset = (): void => {
    talk.chat.clear()
    talk.backlog.restart(talk.past, { number: 9, turn: 1, step: 9, final: false })
  }

  test('during a call: what the reviewer says still counts, what it asks is not run any more', async () => {
    talk.work('one')
    expect(await talk.review({ first: reset, calls: [['advise', { note: NOTE }], ['read', { path: 'a.ts' }]] })).toEqual({ kind: 'reviewed' })
    expect(talk.advised).toHaveLength(1)
    expect(talk.lookups).toEqual([])
    expect(talk.backlog.size).toBe(1)
    expect(talk.tally.reviews).toBe(1)
  })

  test('while a tool runs: its result is forgotten, and shown when it is asked for again', async () => {
    talk.work('one')
    talk.look = () => {
      reset()
      return FILE
    }
    await talk.review(read('a.ts'))
    talk.look = () => FILE
    await talk.review(read('a.ts'), OK)
    expect(shown(talk.last)).toContain(FILE)
    expect(shown(talk.last)).not.toContain(UNCHANGED)
    expect(unanswered(talk.last)).toEqual([])
  })

  test('starts over with the task, and keeps the remarks that were not told', async () => {
    talk.chat.remark('[r]')
    talk.work('one')
    await talk.review({ first: reset, text: 'ok' })
    await talk.review(OK)
    expect(shown(talk.last)).toMatch(/^Working folder: \/w\n\nThe user's request:\n\*\*user:\*\* Fix a\.\n\[r\]\n## step 1\.9/)
  })
})

test('what is written down of a reply has its secrets replaced, whoever said them first', async () => {
  talk.hider = new Redactor({ patterns: ['hunter\\d'], known: [] })
  talk.work('one')
  await talk.review({ text: 'The password is hunter2.', calls: [['advise', { note: 'The password hunter2 stands in a.ts.' }], ['read', { path: 'hunter2.ts' }]] }, OK)
  expect(talk.reviewed).toHaveLength(1)
  const [{ end, model, replies } = {}] = talk.reviewed
  expect([end, model, replies?.length]).toEqual(['advice', 'p/m', 2])
  expect(JSON.stringify(replies)).not.toContain('hunter2')
  expect(JSON.stringify(replies)).toContain('[secret 1: custom]')
})

test('a review that is given up while a file is read for its proof says nothing', async () => {
  talk.work('one')
  talk.readFile = async () => {
    talk.lifetime.abort(new Error('switched off'))
    return undefined
  }
  const quoted: Said = { calls: [['advise', { note: NOTE, severity: 'blocker', evidence: { quote: 'a line that stands nowhere', path: 'a.ts' } }]] }
  expect(await talk.review(quoted)).toEqual({ kind: 'aborted' })
  expect(talk.advised).toEqual([])
})

describe('a conversation that starts over', () => {
  beforeEach(async () => {
    talk.work('one')
    await talk.review(OK)
    talk.work('two')
  })

  test.each([
    ['another model', () => { talk.config = { ...talk.config, model: 'n' } }],
    ['a reviewer that loses its tools', () => { talk.config = { ...talk.config, tools: [] } }],
    ['something else to hide', () => { talk.hider = new Redactor({ patterns: ['one'], known: [] }) }],
  ])('because of %s has the task, and nothing of before', async (_reason, change) => {
    change()
    await talk.review(OK)
    expect(shown(talk.last)).toMatch(/^Working folder/)
    expect(shown(talk.last)).not.toContain('**agent:** one')
    expect(shown(talk.last)).toContain('**agent:** two')
  })

  test('is none when nothing of that changes', async () => {
    await talk.review(OK)
    expect(extendsIt(talk.last, talk.requests[0]!)).toBe(true)
  })
})

describe('upkeep', () => {
  const LINE = 'the agent describes what it does at length. '
  const BOUND = 8_000
  beforeEach(() => { talk.config = { ...talk.config, maxContextTokens: BOUND } })

  /** So many reviews of 500 tokens each. */
  async function reviews(count: number, each: () => readonly Said[] = () => [OK]): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      talk.work(`work ${index} ${LINE.repeat(45)}`)
      await talk.review(...each())
    }
  }
  const summaries = () => talk.requests.filter(request => shown(request).includes('Your conversation has grown long'))

  test('keeps every request below the bound, for as long as the work goes on, and loses no update', async () => {
    await reviews(120)
    expect(Math.max(...talk.requests.map(request => talk.sizeOf(request)))).toBeLessThanOrEqual(BOUND)
    const reviewed = talk.requests.filter(request => !summaries().includes(request))
    expect(reviewed.map(request => /work (\d+) (?!.*work \d+ )/s.exec(shown(request))?.[1])).toEqual(Array.from({ length: 120 }, (_, index) => String(index)))
    expect(talk.backlog.size).toBe(0)
  })

  test('keeps the task, and the reviewer\'s own summary of what is gone', async () => {
    await reviews(40)
    expect(summaries().length).toBeGreaterThan(0)
    expect(shown(talk.last)).toMatch(/^Working folder: \/w\n\nThe user's request:\n\*\*user:\*\* Fix a\.\nYour own summary of the review so far:\nThe agent works on a\./)
  })

  test('is rare: one summary makes room for several reviews', async () => {
    await reviews(60)
    expect(summaries().length).toBeLessThan(12)
    const others = talk.requests.filter(request => !summaries().includes(request))
    const extended = others.filter((request, index) => index > 0 && extendsIt(request, others[index - 1]!))
    expect(extended.length).toBeGreaterThan(others.length - 14)
  })

  test('lets go of looked-up results first: no summary is needed for them', async () => {
    talk.look = () => 'x'.repeat(6_000)
    await reviews(4, () => [read(`${talk.requests.length}.ts`), OK])
    expect(Math.max(...talk.requests.map(request => talk.sizeOf(request)))).toBeLessThanOrEqual(BOUND)
    expect(unanswered(talk.last)).toEqual([])
    expect(shown(talk.last)).toContain('[dropped to save room')
    expect(summaries()).toEqual([])
  })

  test('leaves room for a look in every review', async () => {
    await reviews(60, () => [read(`${talk.requests.length}.ts`), OK])
    expect(talk.lookups).toHaveLength(60)
    expect(talk.requests.filter(request => shown(request).includes('there is no room'))).toEqual([])
  })

  test('shows the bounded present anew when no summary can be had, and no update twice', async () => {
    talk.summary = { fails: SERVER }
    await reviews(40)
    expect(Math.max(...talk.requests.map(request => talk.sizeOf(request)))).toBeLessThanOrEqual(BOUND)
    for (const request of talk.requests) {
      const numbers = [...shown(request).matchAll(/work (\d+) /g)].map(match => match[1])
      expect(new Set(numbers).size).toBe(numbers.length)
    }
    expect(talk.backlog.size).toBe(0)
  })

  test('shows of the present nothing that comes with the next update', async () => {
    talk.summary = { fails: SERVER }
    await reviews(12)
    const before = talk.requests.length
    for (let index = 0; index < 8; index += 1) {
      talk.work(`more ${index} ${LINE.repeat(45)}`)
      const underway = { kind: 'agent' as const, seq: 999, text: 'not cut yet', reasoning: '', interrupted: false }
      talk.past.push(underway)
      await talk.review(OK)
      talk.past.pop()
    }
    expect(talk.requests.slice(before).map(shown).filter(text => text.includes('not cut yet'))).toEqual([])
    expect(talk.requests.slice(before).some(request => /^Working folder/.test(shown(request)))).toBe(true)
  })

  test.each([{ text: '' }, { text: '   ' }, { fails: SERVER }])('takes %j for no summary and goes on', async (summary) => {
    talk.summary = summary
    await reviews(30)
    expect(talk.tally.reviews).toBe(30)
    expect(shown(talk.last)).not.toContain('Your own summary')
  })

  test('never cuts a review in its middle: what is looked up takes the room that is left', async () => {
    talk.look = () => 'y'.repeat(24_000)
    await reviews(30, () => [{ calls: Array.from({ length: 8 }, (_, index) => ['grep', { pattern: `${index}` }] as const) }, OK])
    expect(Math.max(...talk.requests.map(request => talk.sizeOf(request)))).toBeLessThanOrEqual(BOUND)
    expect(talk.tally.reviews).toBe(30)
    expect(unanswered(talk.last)).toEqual([])
    expect(shown(talk.last)).toContain('[cut: ')
  })

  test.each(['x', '文'])('cuts a first batch of endless %s to what fits, the task with it', async (char) => {
    talk.pinned = { ...talk.pinned, task: char.repeat(90_000), latest: `${char.repeat(90_000)}.`, instructions: [char.repeat(90_000)] }
    talk.work(...Array.from({ length: 50 }, (_, index) => `${index} ${char.repeat(5_000)}`))
    await talk.review(OK)
    expect(talk.sizeOf(talk.last)).toBeLessThanOrEqual(BOUND)
    expect(shown(talk.last)).toContain(`**user:** ${char}`)
    expect(shown(talk.last)).toContain(`49 ${char}`)
  })

  test('makes a conversation smaller that is dear to re-read, however much it may hold', async () => {
    talk.config = { ...talk.config, maxContextTokens: 2_000_000 }
    await reviews(150)
    expect(summaries().length).toBeGreaterThan(0)
    const sizes = talk.requests.map(request => talk.sizeOf(request))
    expect(sizes.at(-1)).toBeLessThan(Math.max(...sizes) * 0.75)
  })
})

describe('a larger model for long conversations', () => {
  const LINE = 'the agent describes what it does at length. '
  beforeEach(() => { talk.config = { ...talk.config, maxContextTokens: 8_000, longContextModel: 'q/long' } })
  async function reviews(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      talk.work(`work ${index} ${LINE.repeat(45)}`)
      expect(await talk.review()).toEqual({ kind: 'reviewed' })
    }
  }
  const models = () => [...new Set(talk.requests.map(({ provider, model }) => `${provider}/${model}`))]

  test('goes on with a conversation that the reviewer\'s own cannot hold, up to its own bound', async () => {
    talk.windows({ m: 128_000, long: 40_000 })
    await reviews(90)
    expect(models()).toEqual(['p/m', 'q/long'])
    const sizes = talk.requests.filter(({ model }) => model === 'long').map(request => talk.sizeOf(request))
    expect(Math.max(...sizes)).toBeGreaterThan(20_000)
    expect(Math.max(...sizes)).toBeLessThan(40_000)
    expect(talk.last.model === 'm' || talk.requests.findLastIndex(({ model }) => model === 'm') > 20).toBe(true)
  })

  test('that is not there costs one line and one conversation, not the reviewer', async () => {
    talk.windows({ m: 128_000 })
    await reviews(60)
    expect(models()).toEqual(['p/m'])
    expect(Math.max(...talk.requests.map(request => talk.sizeOf(request)))).toBeLessThanOrEqual(8_000)
    expect(talk.told).toEqual([expect.stringMatching(/^the model for long conversations, q\/long, failed \(UNKNOWN_MODEL/)])
  })

  test('that refuses its calls costs no update, and the reviewer goes on with its own', async () => {
    talk.windows({ m: 128_000, long: 200_000 })
    const { onCall } = talk.llm
    talk.llm.onCall = (call) => {
      if (call.request.model === 'long') talk.script = [{ fails: { code: 'UNAUTHORIZED', status: 401 } }]
      onCall(call)
    }
    await reviews(60)
    expect(talk.told).toHaveLength(1)
    expect(talk.tally.reviews).toBe(60)
    expect(talk.last.model).toBe('m')
  })

  test('of an unknown window holds no more than is configured', async () => {
    talk.llm.resolveModelInfo = async () => ({ provider: 'q', id: 'long', name: 'long' })
    await reviews(60)
    expect(Math.max(...talk.requests.map(request => talk.sizeOf(request)))).toBeLessThanOrEqual(8_000)
  })
})
