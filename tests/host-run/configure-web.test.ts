// `/advisor configure`, `trust` and `config` on the published web host, answered over the wire as its page answers them.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { REVIEWER_MODEL } from '../support/model-server.ts'
import { startWeb, type Web } from './moments-web.ts'

interface Question { id: string, question: string, detail?: string, options?: { label: string }[], multiSelect?: boolean }

/** A page that is open on the host and gives these answers, a label or a text each, to the questions as they come; then it dismisses. */
class Page implements Disposable {
  readonly asked: Question[] = []
  private readonly baseURL: string
  private readonly answers: string[]
  private readonly socket: WebSocket

  constructor(baseURL: string, answers: string[]) {
    this.baseURL = baseURL
    this.answers = answers
    this.socket = new WebSocket(`${baseURL.replace('http', 'ws')}/api/events.mux`)
    this.socket.onmessage = ({ data }) => {
      const { rpcId, payload } = JSON.parse(String(data)) as { rpcId: string, payload: { type: string, sessionId: string, questions: Question[] } }
      if (payload.type === 'question/requested') void this.answer(rpcId, payload.sessionId, payload.questions[0]!)
    }
  }

  /** Resolves when the page follows what the host says. */
  get opened(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.socket.onopen = resolve
      this.socket.onerror = reject
    })
  }

  [Symbol.dispose](): void {
    this.socket.close()
  }

  private async answer(rpcId: string, sessionId: string, question: Question): Promise<void> {
    this.asked.push(question)
    const answer = this.answers.shift()
    const isLabel = question.options?.some(({ label }) => label === answer) ?? false
    const result = answer === undefined
      ? { ok: false, error: { code: 'cancelled', message: 'dismissed', details: {} } }
      : { ok: true, value: { sessionId, answer: { answers: [{ id: question.id, ...isLabel ? { selected: [answer] } : { selected: [], custom: answer } }] } } }
    await fetch(`${this.baseURL}/api/respond`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'client-response', rpcId, result }),
    })
  }
}

let web: Web

beforeAll(async () => {
  web = await startWeb({ tarball: inject('tarball'), advisor: { enabled: true, provider: 'deepseek-official', model: REVIEWER_MODEL } })
})
afterAll(async () => {
  expect(await web.close()).toBe('')
})

async function open(...answers: string[]): Promise<Page> {
  const page = new Page(/http:\/\/[^\s/]+/.exec(web.stdout())![0], answers)
  await page.opened
  return page
}

test('an advisor is added, trusted, and shown with where its values come from', async () => {
  const session = await web.open()
  using page = await open('WATCHDOG.yml', 'Add an advisor', 'Layers', 'No cycles.', 'model', 'deepseek-official/some:high', 'notesPerUpdate', '9', '2', 'Back', 'Save',
    'Trust it')
  expect(await session.advisor('configure'))
    .toBe('Saved WATCHDOG.yml, which waits for `/advisor trust`: added "Layers"; "Layers": model deepseek-official/some:high; "Layers": notesPerUpdate 2.')
  expect(readFileSync(join(web.host.work, 'WATCHDOG.yml'), 'utf8')).toBe([
    'advisors:', '  - name: Layers', '    instructions: No cycles.', '    model: deepseek-official/some:high', '    notesPerUpdate: 2', '',
  ].join('\n'))
  expect(page.asked.some(({ detail }) => detail?.includes('Refused "9"'))).toBe(true)
  expect(page.asked.find(({ question }) => question.startsWith('model:'))?.options?.map(({ label }) => label)).toContain(`deepseek-official/${REVIEWER_MODEL}`)

  expect(await session.advisor('config')).toContain('  model: deepseek-v4-pro (settings)\n  effort: low (default)\n')
  expect(await session.advisor('trust')).toBe('Trusted: WATCHDOG.yml. `/advisor untrust` takes it back.')
  expect(await session.advisor('config')).toContain('  model: some (WATCHDOG.yml)\n  effort: high (WATCHDOG.yml)\n')
})

test('a page that leaves the dialog leaves the file', async () => {
  const session = await web.open()
  using _page = await open('WATCHDOG.yml', 'Layers', 'Pause it')
  const before = readFileSync(join(web.host.work, 'WATCHDOG.yml'), 'utf8')
  expect(await session.advisor('configure')).toBe('Nothing was changed.')
  expect(readFileSync(join(web.host.work, 'WATCHDOG.yml'), 'utf8')).toBe(before)
})

test('what needs no dialog works without a page', async () => {
  writeFileSync(join(web.host.work, 'WATCHDOG.yml'), 'advisors:\n  - name: Layers\n    tools: [read, bash]\n')
  const session = await web.open()
  expect(await session.advisor('trust yes')).toBe('Trusted: WATCHDOG.yml. `/advisor untrust` takes it back.')
  expect(await session.advisor('untrust')).toBe('No longer trusted: WATCHDOG.yml.')
})
