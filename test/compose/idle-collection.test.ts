/** Memory is given back once after each busy time, and never while a reply runs. */
import { expect, test } from 'vitest'
import { createIdleWatch } from '../../src/compose/start/idle-collection.ts'

test('one collection after each busy time, once nothing runs and nothing was to be done', () => {
  const isTime = createIdleWatch()
  const checks: [cpuShare: number, running: number, collected: boolean][] = [
    [0.01, 0, false], // it has never been busy
    [0.6, 40, false],
    [0.01, 3, false], // slow replies still run
    [0.05, 0, false],
    [0.01, 0, false],
    [0.01, 0, false],
    [0.06, 0, false], // upkeep
    [0.01, 0, true],
    [0.01, 0, false],
    [0.01, 0, false],
    [0.9, 0, false],
    [0.0, 0, false],
    [0.3, 0, false], // busy once more
    [0.0, 0, false],
    [0.0, 0, false],
    [0.0, 0, true],
  ]
  expect(checks.map(([cpuShare, running]) => isTime({ cpuShare, running }))).toEqual(
    checks.map(([, , collected]) => collected),
  )
})
