/** The memory of a product in a process of its own. */
import { expect } from 'vitest'
import type { Product } from '../programs/product.ts'

const WORD = 'memory '
const probe = `data:text/javascript,${encodeURIComponent(
  `process.on('SIGUSR2',()=>{gc();gc();process.stderr.write('${WORD}'+JSON.stringify(process.memoryUsage())+'\\n')})`,
)}`

/** On SIGUSR2 a product that was started with these prints its memory after a garbage collection. */
export const heapProbe = ['--expose-gc', '--import', probe]

/** Returns the bytes in use after a garbage collection: on the heap, and with the external buffers. */
export async function heldBy({ pid, stderr }: Product): Promise<{ heap: number; all: number }> {
  const said = () => stderr.filter((line) => line.startsWith(WORD))
  const before = said().length
  process.kill(pid, 'SIGUSR2')
  await expect.poll(() => said().length).toBe(before + 1)
  const { heapUsed, external } = JSON.parse(said().at(-1)?.slice(WORD.length) ?? '')
  return { heap: heapUsed, all: heapUsed + external }
}
