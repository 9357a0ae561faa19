/** Reading a journal back: sums over processes, whatever else stands in the file. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import { forEachLine, readTotals } from '../../src/record/read-totals.ts'
import { emptyTotals, sumOf, type Totals } from '../../src/record/totals.ts'
import { testFolder } from './support/folder.ts'
import { after } from './support/records.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = testFolder()
  path = join(folder, '__advisor.jsonl')
})

const line = (run: string, totals: Totals, rest = '"kind":"review"'): string => `{"v":1,"run":"${run}","at":0,"totals":${JSON.stringify(totals)},${rest}}\n`

describe('the sum of a journal', () => {
  test('is that of the last line of each run, however they stand', async () => {
    writeFileSync(path, [line('a', after(1)), line('b', after(5)), line('a', after(2)), line('b', after(6)), line('a', after(3))].join(''))
    expect(await readTotals(path)).toEqual({ totals: after(9), runs: 2, bad: 0 })
  })

  test('leaves out the run that asks', async () => {
    writeFileSync(path, [line('a', after(1)), line('b', after(5)), line('a', after(2))].join(''))
    expect(await readTotals(path, 'b')).toEqual({ totals: after(2), runs: 1, bad: 0 })
  })

  test('is nothing of a file that is not there', async () => {
    expect(await readTotals(path)).toEqual({ totals: emptyTotals(), runs: 0, bad: 0 })
    expect((await readTotals(folder)).runs).toBe(0)
  })

  test.each([
    ['no JSON', 'garbage\n', 1], ['an empty line', '\n\n', 0], ['other JSON', '{"kind":"review"}\n[1]\n', 2],
    ['totals that are none', line('a', after(3)).replace('"calls":3', '"calls":-3'), 1], ['a run that is none', line('a', after(3)).replace('"a"', '7'), 1],
    ['a line cut within its head', line('a', after(3)).slice(0, 90).concat('\n'), 1], ['bytes that are no text', '\u0000\ufffd\n', 1],
    ['totals in a text', `{"run":"a","totals":"${'x'.repeat(10)}","kind":"review"}\n`, 1],
  ])('goes on over %s', async (_what, bad, count) => {
    writeFileSync(path, `${line('a', after(1))}${bad}${line('b', after(1))}`)
    expect(await readTotals(path)).toEqual({ totals: after(2), runs: 2, bad: count })
  })

  test('counts a line that was torn behind its figures, for they were spent', async () => {
    writeFileSync(path, line('a', after(1)) + line('a', after(2), '"kind":"review","shown":["abc').slice(0, -2))
    expect((await readTotals(path)).totals).toEqual(after(2))
  })

  test('skips a line over 8 MB and reads on', async () => {
    const long = line('a', after(7), `"kind":"review","shown":"${'x'.repeat(8 * 1024 * 1024)}"`)
    writeFileSync(path, line('a', after(1)) + long + line('b', after(2)))
    expect(await readTotals(path)).toEqual({ totals: after(3), runs: 2, bad: 1 })
  })

  test('holds for more runs than are told apart', async () => {
    for (let run = 0; run < 3_000; run += 1) appendFileSync(path, line(`r${run}`, after(1)) + line(`r${run}`, after(2)))
    const { totals, runs } = await readTotals(path)
    expect([totals.counts.reviews, runs]).toEqual([6_000, 3_000])
  })
})

test('lines that cross the borders of what is read at once are whole', async () => {
  const lines = Array.from({ length: 40 }, (_, index) => `${index}:${'x'.repeat(60_000 + index * 977)}`)
  writeFileSync(path, lines.join('\n'))
  const seen: string[] = []
  await forEachLine(path, 0, read => seen.push(read!.toString()))
  expect(seen.map(text => text.slice(0, 65_536))).toEqual(lines.map(text => text.slice(0, 65_536)))
  const from = lines.slice(0, 10).join('\n').length
  for (const [start, first] of [[from, '10'], [from + 1, '10'], [from + 2, '11']] as const) {
    const tail: string[] = []
    await forEachLine(path, start, read => tail.push(read!.toString('utf8', 0, 2)))
    expect(tail[0]).toBe(first)
  }
})

const WRITER = fileURLToPath(new URL('support/journal-writer.ts', import.meta.url))

describe('two processes on one session', { timeout: 30_000 }, () => {
  test('write whole lines among each other\'s, and their sums add up', async () => {
    const run = () => promisify(execFile)(process.execPath, [WRITER, folder, '150', '20000'])
    await Promise.all([run(), run()])
    const lines = readFileSync(path, 'utf8').split('\n').filter(text => text !== '').map(text => JSON.parse(text) as { run: string })
    expect(lines).toHaveLength(300)
    const { totals, runs, bad } = await readTotals(path)
    expect([totals.counts.reviews, runs, bad]).toEqual([300, 2, 0])
    expect(totals.models['p/m']!.cost.USD).toBeCloseTo(300, 9)
    const one = lines[0]!.run
    expect((await readTotals(path, one)).totals.counts.reviews).toBe(150)
  })

  test('one of which is killed while it writes: what it reported is there, and the next one begins on a line of its own', async () => {
    const writer = spawn(process.execPath, [WRITER, folder, '100000', '300000'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let out = ''
    writer.stdout.on('data', (chunk: Buffer) => {
      out += String(chunk)
      if (out.split('\n').length > 8) writer.kill('SIGKILL')
    })
    await once(writer, 'close')
    const reported = out.trimEnd().split('\n').length
    // As if the machine had stopped in the middle of the line that was being written.
    appendFileSync(path, line('torn', after(1)).slice(0, 60))
    await promisify(execFile)(process.execPath, [WRITER, folder, '1', '10'])
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ kind: 'review', updates: [1, 1] })
    const { totals, bad } = await readTotals(path)
    expect(bad).toBe(1)
    expect(totals.counts.reviews).toBeGreaterThanOrEqual(reported + 1)
    expect(sumOf([totals])).toEqual(totals)
  })
})
