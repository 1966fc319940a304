/** Owners of slow schemas are queued after all others (contract section 18). */
import { expect, test } from 'vitest'
import { createSchemaThread, startSchemaWorker } from '../../src/tools/schema-thread.ts'
import { verifies } from '../verifies.ts'

const schema = (pattern: string) => ({ type: 'object', properties: { text: { type: 'string', pattern } } })
const slow = (index: number) => ({
  kind: 'check' as const,
  schema: schema(`^(a+)+${index}$`),
  args: { text: `${'a'.repeat(60)}!` },
})
const quick = { kind: 'check' as const, schema: schema('^a'), args: { text: 'a' } }

verifies(
  'contract-18.no-freeze',
  'many slow schemas of one server delay others by at most one time limit',
  async () => {
    const thread = createSchemaThread({ jobMs: 1_000 })
    const ended: string[] = []
    const hostile = [1, 2, 3, 4].map((index) => thread.ask(slow(index), 'hostile').then(() => ended.push('hostile')))
    const honest = thread.ask(quick, 'honest').then((reasons) => {
      ended.push('honest')
      return reasons
    })
    expect(await honest).toEqual([null])
    expect(ended.filter((owner) => owner === 'hostile').length).toBeLessThanOrEqual(1)
    await Promise.all(hostile)
  },
)

test('a schema that took too long is not tried again for a while', async () => {
  let started = 0
  const start = () => {
    started += 1
    return startSchemaWorker()
  }
  const thread = createSchemaThread({ jobMs: 500, start })
  for (const _ of ['first', 'second']) expect(await thread.ask(slow(5), 'hostile')).toBe(null)
  expect(started).toBe(1)
})
