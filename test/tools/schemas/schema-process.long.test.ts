/** Schemas are applied outside the server process, in bounded time and memory (contract section 18). */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSchemaProcess, startSchemaChild } from '../../../src/tools/schemas/schema-process.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'

const check = (schema: object, args: object) => ({
  kind: 'check' as const,
  schema: JSON.stringify(schema),
  args: JSON.stringify(args),
})
const matching = (pattern: string, text: string) =>
  check({ type: 'object', properties: { text: { type: 'string', pattern } } }, { text })
const slow = (index: number) => matching(`^(a+)+${index}$`, `${'a'.repeat(60)}!`)
/** Uses half a second of processor time. */
const long = matching('^(a+)+$', `${'a'.repeat(23)}!`)
const quick = matching('^a', 'a')

/** 2^45 paths, each of which collects errors. */
function greedy() {
  const $defs: Record<string, unknown> = { a0: false }
  for (let i = 1; i < 45; i += 1) {
    const before = { $ref: `#/$defs/a${i - 1}` }
    $defs[`a${i}`] = { anyOf: [before, before] }
  }
  return check({ $ref: '#/$defs/a44', $defs }, {})
}

/** Every process that was started. */
function counted(maxMegabytes?: number) {
  const started: ChildProcess[] = []
  const start = () => {
    const child = startSchemaChild(maxMegabytes)
    started.push(child)
    return child
  }
  return { started, start }
}

/** What ended it, as soon as it has ended. */
async function signalOf(child: ChildProcess | undefined): Promise<string | null> {
  if (child === undefined) throw new Error('Nothing was started.')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.signalCode
}

verifies(
  'contract-18.no-freeze',
  'many slow schemas of one server delay others by at most one time limit',
  async () => {
    const applier = createSchemaProcess()
    const ended: string[] = []
    const hostile = [1, 2].map((index) => applier.ask(slow(index), 'hostile').then(() => ended.push('hostile')))
    const honest = applier.ask(quick, 'honest').then((reasons) => {
      ended.push('honest')
      return reasons
    })
    expect(await honest).toEqual([null])
    expect(ended.filter((owner) => owner === 'hostile').length).toBeLessThanOrEqual(1)
    await Promise.all(hostile)
  },
)

test('a schema that took too long is not tried again for a while', async () => {
  const { started, start } = counted()
  const applier = createSchemaProcess({ cpuMs: 500, start })
  for (const _ of ['first', 'second']) expect(await applier.ask(slow(5), 'hostile')).toBe(null)
  expect(started).toHaveLength(1)
})

test('one process serves all jobs, and ends after an idle time', async () => {
  const { started, start } = counted()
  const applier = createSchemaProcess({ idleMs: 300, start })
  for (const owner of ['a', 'b', 'c']) expect(await applier.ask(quick, owner)).toEqual([null])
  expect(started).toHaveLength(1)
  expect(await signalOf(started[0])).toBe('SIGKILL')
  expect(await applier.ask(quick, 'd')).toEqual([null])
  expect(started).toHaveLength(2)
})

verifies('contract-18.no-freeze', 'a schema that exhausts the memory ends only its own process', async () => {
  const { started, start } = counted(48)
  const applier = createSchemaProcess({ cpuMs: WAIT_MS, start })
  expect(await applier.ask(greedy(), 'hostile')).toBe(null)
  expect(await signalOf(started[0])).not.toBe('SIGKILL') // by its own engine, not by the time limit
  expect(await applier.ask(quick, 'honest')).toEqual([null])
})

test('a signal to the whole process group does not end it', async () => {
  const { started, start } = counted()
  const applier = createSchemaProcess({ start })
  await applier.ask(quick, 'a')
  for (const signal of ['SIGTERM', 'SIGINT'] as const) started[0]?.kill(signal)
  expect(await applier.ask(matching('^b', 'a'), 'a')).toEqual([expect.stringContaining('pattern')])
  expect(started).toHaveLength(1)
})

verifies('contract-18.no-freeze', 'killed while a schema is applied, the server leaves no process behind', async () => {
  const source = new URL('../../../src/tools/schemas/schema-process.ts', import.meta.url)
  const server = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { createSchemaProcess, startSchemaChild } from ${JSON.stringify(source.href)}
       const start = () => {
         const child = startSchemaChild()
         child.once('message', () => setImmediate(() => console.log(child.pid))) // its job has been sent by then
         return child
       }
       void createSchemaProcess({ jobMs: 1_000, start }).ask(${JSON.stringify(slow(6))}, 'hostile')
       setInterval(() => {}, 1_000)`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [line] = await once(server.stdout, 'data')
  const pid = Number(String(line))
  expect(isAlive(pid)).toBe(true)
  server.kill('SIGKILL')
  await expect.poll(() => isAlive(pid)).toBe(false)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

verifies(
  ['contract-29.busy-machine', 'contract-18.no-freeze'],
  'a check that waits for a processor is not ended; the checks of others go on in another process',
  async () => {
    const { started, start } = counted()
    const applier = createSchemaProcess({ cpuMs: 4_000, patienceMs: 20, wallMs: 600_000, start })
    await applier.ask(quick, 'waits')
    const before = processorTicks(started[0])
    const stopped = applier.ask(long, 'waits')
    await expect.poll(() => processorTicks(started[0]), { interval: 1 }).toBeGreaterThan(before + 3)
    started[0]?.kill('SIGSTOP') // within its job: it uses no processor time from here on
    const others = ['b', 'c'].map((pattern) => applier.ask(matching(pattern, 'a'), 'waits'))
    expect(await Promise.all(others)).toEqual([[expect.any(String)], [expect.any(String)]])
    // One that uses as much processor time as is given here is ended.
    expect(await applier.ask(slow(7), 'hostile')).toBeNull()
    started[0]?.kill('SIGCONT')
    expect(await stopped).toEqual([expect.stringContaining('pattern')])
  },
)

verifies(
  'contract-29.busy-machine',
  'a check that is not done in time is begun once more, and no third time',
  async () => {
    const { started, start } = counted()
    const isStopped = [true, false, true, true, false]
    const applier = createSchemaProcess({
      wallMs: 6_000, // the honest one is started and done in that, on a busy machine too
      start: () => (isStopped[started.length] ? stoppedWhenStarted(start()) : start()),
    })
    expect(await applier.ask(quick, 'o')).toEqual([null])
    expect(started).toHaveLength(2)
    started[1]?.kill('SIGKILL')
    await signalOf(started[1])
    expect(await applier.ask(quick, 'o')).toBeNull()
    expect(await Promise.all(started.slice(2).map(signalOf))).toEqual(['SIGKILL', 'SIGKILL'])
    // It has not used up its time: it is not suspected.
    expect(await applier.ask(quick, 'o')).toEqual([null])
  },
)

/** The processor time that a process has used, in the system's ticks of 10 ms. */
function processorTicks(child: ChildProcess | undefined): number {
  const fields = readFileSync(`/proc/${child?.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}

/** Stops a process before it is ready. */
function stoppedWhenStarted(child: ChildProcess): ChildProcess {
  child.kill('SIGSTOP')
  return child
}
