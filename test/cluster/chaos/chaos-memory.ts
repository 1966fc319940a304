/** The peak memory of the instances in a chaos run (Linux; not measured elsewhere). */
import { readFileSync } from 'node:fs'
import type { Product } from '../../support/programs/product.ts'
import type { Measured } from './checks/chaos-bounds.ts'

const EVERY_MS = 500

type Peak = 'memory' | 'memory with many replies'

/** `products`: the current ones, including restarted ones. `measured` begins anew: it names the peak since the last one. */
export function watchMemory(
  products: readonly Pick<Product, 'pid'>[],
): Disposable & { measured(what: Peak): Measured[] } {
  const most: number[] = []
  const look = () => {
    for (const [n, { pid }] of products.entries()) most[n] = Math.max(most[n] ?? 0, residentMiB(pid))
  }
  const timer = setInterval(look, EVERY_MS)
  return {
    measured: (what) => most.splice(0).map((value, n) => ({ what, value: Math.round(value), detail: `instance ${n}` })),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

function residentMiB(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0 // it has ended
  }
}
