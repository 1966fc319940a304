/** Schemas are applied outside the server process, in bounded time and memory (contract section 18). */
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { expect, test } from 'vitest'
import { createSchemaProcess, startSchemaChild } from '../../../src/tools/schemas/schema-process.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'

const schema = (pattern: string) => ({ type: 'object', properties: { text: { type: 'string', pattern } } })
const slow = (index: number) => ({
  kind: 'check' as const,
  schema: schema(`^(a+)+${index}$`),
  args: { text: `${'a'.repeat(60)}!` },
})
const quick = { kind: 'check' as const, schema: schema('^a'), args: { text: 'a' } }

/** 2^45 paths, each of which collects errors. */
function greedy() {
  const $defs: Record<string, unknown> = { a0: false }
  for (let i = 1; i < 45; i += 1) {
    const before = { $ref: `#/$defs/a${i - 1}` }
    $defs[`a${i}`] = { anyOf: [before, before] }
  }
  return { kind: 'check' as const, schema: { $ref: '#/$defs/a44', $defs }, args: {} }
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
    const applier = createSchemaProcess({ jobMs: 4_000 }) // the honest one must be done in that, on a busy machine too
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
  const applier = createSchemaProcess({ jobMs: 500, start })
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
  const applier = createSchemaProcess({ jobMs: WAIT_MS, start })
  expect(await applier.ask(greedy(), 'hostile')).toBe(null)
  expect(await signalOf(started[0])).not.toBe('SIGKILL') // by its own engine, not by the time limit
  expect(await applier.ask(quick, 'honest')).toEqual([null])
})

test('a signal to the whole process group does not end it', async () => {
  const { started, start } = counted()
  const applier = createSchemaProcess({ start })
  await applier.ask(quick, 'a')
  for (const signal of ['SIGTERM', 'SIGINT'] as const) started[0]?.kill(signal)
  expect(await applier.ask({ ...quick, schema: schema('^b') }, 'a')).toEqual([expect.stringContaining('pattern')])
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

test('a process that neither answers nor ends by itself is given up', async () => {
  let killed = 0
  const silent = Object.assign(new EventEmitter(), {
    send: () => true,
    unref() {},
    channel: null,
    kill: () => ++killed > 0,
  }) as unknown as ChildProcess
  const start = () => {
    setImmediate(() => silent.emit('message', 'ready'))
    return silent
  }
  const schemas = createSchemaProcess({ jobMs: 20, start })
  expect(await schemas.ask({ kind: 'is_usable', schema: { type: 'object' } }, 'o')).toBeNull()
  expect(killed).toBe(1)
})
