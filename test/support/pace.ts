/**
 * The machine's pace: the time of a fixed piece of work, done by five processes at once. A run's duration over it compares
 * machines, and hours of one machine, with each other.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** SHA-256 over 512 MiB, and a million small objects: about a second for each process on a processor of its own. */
const work = `
  const hash = require('node:crypto').createHash('sha256')
  const bytes = Buffer.alloc(2 ** 20)
  for (let n = 0; n < 512; n++) hash.update(bytes)
  let objects = []
  for (let n = 0; n < 1e6; n++) objects.push({ n, text: String(n) })
  process.exitCode = hash.digest().length + objects.length > 0 ? 0 : 1`

/** Returns seconds, by the clock. */
export async function measurePace(): Promise<number> {
  const begin = performance.now()
  const processes = Array.from({ length: 5 }, () => spawn(process.execPath, ['-e', work], { stdio: 'ignore' }))
  await Promise.all(processes.map((process) => once(process, 'close')))
  return (performance.now() - begin) / 1000
}
