/** CPU time and memory of process trees, from /proc. */
import { readdir, readFile } from 'node:fs/promises'

/** Linux: USER_HZ is always 100, and pages are 4 KiB on the supported machines. */
const TICK_US = 10_000
const PAGE_MB = 4096 / 2 ** 20

type Process = { pid: number; parent: number; name: string; cpuUs: number; residentMb: number }

/** PostgreSQL and Redis are identified by program name. */
export type Part = 'own' | 'postgres' | 'redis'

export type Use = Record<Part, number>

const partOf = ({ name }: Process): Part =>
  name === 'postgres' ? 'postgres' : name === 'redis-server' ? 'redis' : 'own'

/** Reads a process. CPU time includes that of reaped children, so that nothing is lost between readings. */
async function readProcess(pid: number): Promise<Process | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  if (text === '') return null
  const end = text.lastIndexOf(')')
  const fields = text.slice(end + 2).split(' ')
  const field = (n: number) => Number(fields[n])
  const name = text.slice(text.indexOf('(') + 1, end)
  return {
    pid,
    parent: field(1),
    name,
    cpuUs: ((await ownCpuUs(pid, name)) ?? (field(11) + field(12)) * TICK_US) + (field(13) + field(14)) * TICK_US,
    residentMb: field(21) * PAGE_MB,
  }
}

/**
 * Returns the exact CPU time of a process of one thread, as those of PostgreSQL are: ticks of thirty of them hide a
 * twentieth.
 */
async function ownCpuUs(pid: number, name: string): Promise<number | null> {
  if (name !== 'postgres') return null
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '')
  return text === '' ? null : Number(text.split(' ', 1)[0]) / 1000
}

/** Returns the roots and all their descendants. */
async function tree(roots: readonly number[]): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const all = (await Promise.all(pids.map(readProcess))).filter((one) => one !== null)
  const found = new Set(roots)
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid)
  }
  return all.filter(({ pid }) => found.has(pid))
}

/** Returns the CPU time so far, in microseconds. */
export async function cpuOf(roots: readonly number[]): Promise<Use> {
  const use: Use = { own: 0, postgres: 0, redis: 0 }
  for (const one of await tree(roots)) use[partOf(one)] += one.cpuUs
  return use
}

/** Returns the memory in MB: resident; for PostgreSQL, whose processes share most of it, proportional. */
export async function memoryOf(roots: readonly number[]): Promise<Use> {
  const use: Use = { own: 0, postgres: 0, redis: 0 }
  for (const one of await tree(roots)) {
    use[partOf(one)] += partOf(one) === 'postgres' ? await proportionalMb(one) : one.residentMb
  }
  return use
}

async function proportionalMb({ pid, residentMb }: Process): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  const kb = /^Pss:\s+(\d+)/m.exec(text)?.[1]
  return kb === undefined ? residentMb : Number(kb) / 1024
}
