/** Describes the machine. */
import { execFileSync } from 'node:child_process'
import { arch, cpus, release, totalmem } from 'node:os'
import { systemPart } from '../../test/support/programs/system-parts.ts'
import type { Machine } from '../figures/results.ts'

export function machine(): Machine {
  const [cpu] = cpus()
  const redis = /v=(\S+)/.exec(execFileSync(systemPart('redis-server'), ['--version'], { encoding: 'utf8' }))?.[1]
  return {
    processors: `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}`,
    memory: `${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    system: `Linux ${release()}, ${arch()}`,
    node: process.version,
    redis: redis ?? 'unknown',
  }
}
