/** Cases of Greenroom alone: of each checkout in turn, as often as wanted. */
import type { OwnCase } from './case.ts'
import type { Checkout } from './contenders/greenroom.ts'
import type { Ground } from './ground.ts'
import type { Record } from './results.ts'

export async function measureOwn(
  ground: Ground,
  one: OwnCase,
  checkouts: readonly Checkout[],
  repetitions: number,
  record: Record,
): Promise<void> {
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    for (const checkout of checkouts) {
      const behind = checkout.name === null ? '' : `@${checkout.name}`
      const began = performance.now()
      try {
        for (const [row, figures] of Object.entries(await one.measure(checkout, ground))) {
          record.add(one.name, { name: `${row}${behind}`, title: `${row}${behind}` }, figures)
        }
      } catch (error) {
        record.failed(one.name, { name: `failed${behind}`, title: `failed${behind}` }, String(error))
      }
      const seconds = ((performance.now() - began) / 1000).toFixed(0)
      console.log(`${repetition}/${repetitions} ${one.name}${behind}: ${seconds} s`)
    }
  }
}
