/** What stands before a delta: the head of a fresh conversation, and marks of what the reviewer has to know. */
import { expect, test } from 'vitest'
import { renderGap, renderHead, renderPlanMode, renderReconfirm, type Pinned } from '../../src/review/head.ts'
import planMode from '../../src/prompts/plan-mode.md'

const PINNED: Pinned = {
  cwd: '/shop',
  task: 'Add a discount to the cart. Do not touch `price.ts`.',
  latest: 'Also add a test.',
  instructions: ['# /shop/AGENTS.md\nUse pnpm. Write <T> in full.', '# /shop/src/AGENTS.md\nPrices are in cents.'],
  notes: [
    { severity: 'concern', fate: 'delivered at step 1.3', text: 'Step 1.2 edits src/price.ts,\nwhich the user excluded.' },
    { severity: 'nit', fate: 'dismissed by the user', text: '`total` could be shorter.' },
    { severity: 'blocker', fate: 'kept for the user\'s next message (the run was stopped)', text: 'The failing test was passed over.' },
  ],
  muted: ['code style', 'commit messages'],
  planRules: undefined,
}

test('the head after a reset', async () => {
  await expect(`${renderHead(PINNED, []).join('\n')}\n`).toMatchFileSnapshot('./texts/head-after-reset.md')
})

test('the head of a session\'s first review, whose update shows the request itself', async () => {
  const pinned = { ...PINNED, latest: PINNED.task, instructions: [], notes: [], muted: [] }
  const batch = [{ kind: 'user' as const, seq: 1, text: PINNED.task! }]
  await expect(`${renderHead(pinned, batch).join('\n')}\n`).toMatchFileSnapshot('./texts/head-first-review.md')
})

test('a gap', async () => {
  await expect(`${renderGap({ updates: 7, latest: 'Also add a test.' })}\n`).toMatchFileSnapshot('./texts/gap.md')
  await expect(`${renderGap({ updates: 1, latest: undefined })}\n`).toMatchFileSnapshot('./texts/gap-of-one.md')
})

test('plan mode, in full and afterwards', async () => {
  const rules = 'You are in plan mode.\nWrite only to <plan.md> & nothing else.'
  const texts = [renderPlanMode(rules, false), renderPlanMode(planMode, false), renderPlanMode(rules, true)]
  await expect(`${texts.join('\n---\n')}\n`).toMatchFileSnapshot('./texts/plan-mode.md')
})

test('notes that wait', async () => {
  const text = renderReconfirm([
    { id: 3, severity: 'concern', age: 4, text: 'Step 1.2 edits src/price.ts,\nwhich the user excluded.' },
    { id: 5, severity: 'nit', age: 3, text: '`total` could be shorter.' },
  ])
  await expect(`${text}\n`).toMatchFileSnapshot('./texts/reconfirm.md')
})
