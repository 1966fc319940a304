/** Work that runs once more when it is asked for while it runs. */
import { expect, test } from 'vitest'
import { onceMore } from '../../src/async/once-more.ts'

test('whenever it is asked for, the work begins after that; once, where it runs', async () => {
  for (let ticks = 0; ticks < 8; ticks++) {
    let asked = 0
    /** How often it had been asked for as it began. */
    const begun: number[] = []
    const run = onceMore(async () => {
      begun.push(asked)
      await null
    })
    const ask = () => {
      asked += 1
      return run()
    }
    const all = [ask()]
    for (let tick = 0; tick < ticks; tick++) await null
    all.push(ask(), ask())
    await Promise.all(all)
    expect(begun.at(-1)).toBe(asked)
    if (ticks === 0) expect(begun).toEqual([1, asked])
  }
})

test('it rejects as the work does, and runs when it is asked for again', async () => {
  let runs = 0
  const run = onceMore(async () => {
    runs += 1
    if (runs === 1) throw new Error('away')
  })
  await expect(Promise.all([run(), run()])).rejects.toThrow('away')
  await run()
  expect(runs).toBe(2)
})
