/** Runs cases of Greenroom alone, for each checkout in turn. */

import { flagsOf, npmStart } from '../../test/support/programs/npm-start.ts'
import type { Checkout } from '../environment/checkout.ts'
import { commitOf } from '../environment/commit.ts'
import type { Ground } from '../environment/ground.ts'
import type { Record } from '../figures/results.ts'
import type { OwnCase } from './case.ts'

export async function measureOwn(
  ground: Ground,
  one: OwnCase,
  checkouts: readonly Checkout[],
  repetitions: number,
  record: Record,
): Promise<void> {
  const inside = 'measureAll' in one
  for (let repetition = 1; repetition <= (inside ? 1 : repetitions); repetition++) {
    for (const checkout of checkouts) {
      const suffix = checkout.name === null ? '' : `@${checkout.name}`
      const source = { versions: { greenroom: commitOf(checkout.path) }, flags: flagsOf(npmStart(checkout.path)) }
      const named = (row: string) => ({ name: `${row}${suffix}`, title: `${row}${suffix}`, ...source })
      const began = performance.now()
      record.noteLoad(one.name)
      try {
        const all = inside ? await one.measureAll(checkout, ground, repetitions) : [await one.measure(checkout, ground)]
        for (const rows of all) {
          for (const [row, figures] of Object.entries(rows)) record.add(one.name, named(row), figures)
        }
      } catch (error) {
        record.failed(one.name, named('failed'), String(error))
      }
      record.noteLoad(one.name)
      const seconds = ((performance.now() - began) / 1000).toFixed(0)
      console.log(`${inside ? repetitions : repetition}/${repetitions} ${one.name}${suffix}: ${seconds} s`)
    }
  }
}
