/**
 * A simulation of three instances: messages, cancels, deletions, decisions, crashes, pauses, cut and late connections, in any
 * order. `SIMULATION_SEEDS=10000` runs more of them, `SIMULATION_FROM=4711 SIMULATION_SEEDS=1` one of them again.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { shrunk } from './shrink.ts'
import { actionsOf, simulate } from './simulate.ts'

const { SIMULATION_FROM = '1', SIMULATION_SEEDS = '300' } = process.env

test('whatever happens to three instances, the promises of ARCHITECTURE.md hold', { timeout: 3_600_000 }, async () => {
  const from = Number(SIMULATION_FROM)
  for (let seed = from; seed < from + Number(SIMULATION_SEEDS); seed++) {
    const broken = await simulate(seed)
    // No seed gives the event loop a turn, and the test runner needs one.
    await immediate()
    if (broken.length === 0) continue
    const actions = await shrunk(seed, broken)
    expect.fail(`Seed ${seed}: ${broken.join(' ')}\nThe least that shows it: ${JSON.stringify(actions, null, 1)}`)
  }
})

test('a seed is the same run each time', async () => {
  for (const seed of [1, 2, 3]) expect(await simulate(seed, actionsOf(seed))).toEqual(await simulate(seed))
})
