import { test } from 'vitest'
import { makeSchedule } from '../support/schedule.ts'
import { faults } from '../support/schedule-check.ts'
import { play } from '../support/schedule-run.ts'
import { textOf } from '../support/loop.ts'
const seeds = (process.env.SEEDS ?? '').split(',').map(Number)
test.each(seeds)('%i', async (seed) => {
  const s = makeSchedule(seed)
  console.log(seed, JSON.stringify(s.config), 'headless', s.headless, 'tainted', s.tainted)
  if (process.env.BRIEF) return
  console.log(s.moves.map((m, i) => `${i} ${JSON.stringify(m)}`).join('\n'))
  const o = await play(s)
  console.log(o.scene.loop.events(o.scene.agent).map((e, i) => {
    const d = e.data as any
    if (e.type === 'assistant/chunk') return ''
    let x = ''
    if (e.type === 'user/message') x = `${d.source.kind}: ${textOf(d.content).slice(0, 200)}`
    else if (e.type === 'assistant/message') x = textOf(d.message.content) + JSON.stringify(d.message.content.map((b: any) => b.type))
    else if (e.type === 'agent/inbox/spliced') x = `${d.target} start ${d.start} removed ${d.removedCount ?? 0} ${d.outcome ?? ''} + ${d.inserted.map((m: any) => `${m.source.kind}:${textOf(m.content).slice(0, 60)}`)}`
    else if (e.type === 'command/run') x = JSON.stringify(d.name ?? d).slice(0, 80) + (d.input ?? d.args ?? '')
    else if (e.type === 'turn/end') x = JSON.stringify(d.reason)
    else if (/turn|step/.test(e.type)) x = JSON.stringify(d)
    return `${i} ${e.type} ${x}\n`
  }).join(''))
  console.log(o.notes, o.stops, o.wakes)
  console.log(faults(s, o))
})
