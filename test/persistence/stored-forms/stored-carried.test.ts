/** What a waiting session carries is read months later: every version stays as it was, and what is unknown is refused. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { carriedSchemas, decodeCarried, encodeCarried } from '../../../src/persistence/stored-forms/stored-carried.ts'
import { verifies } from '../../verifies.ts'

const folder = new URL('../fixtures/carried/', import.meta.url)
const fixture = async (version: number) => JSON.parse(await readFile(new URL(`${version}.json`, folder), 'utf8'))

/** A schema is never changed once it was released. A change is a new version: another line, another file. */
const hashes = ['6e14f3ccfcb7d365']

const hashOf = (schema: object) => createHash('sha256').update(JSON.stringify(schema)).digest('hex').slice(0, 16)

/** The names of all fields, by their paths. */
function pathsOf(schema: object, path = ''): string[] {
  const { properties = {}, items, anyOf = [] } = Object(schema)
  const inner = Object.entries<object>(properties).flatMap(([name, one]) => [
    `${path}.${name}`,
    ...pathsOf(one, `${path}.${name}`),
  ])
  const elements = items ? pathsOf(items, path) : []
  return [...inner, ...elements, ...anyOf.flatMap((one: object) => pathsOf(one, path))]
}

function pathsIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => pathsIn(one, path))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => [`${path}.${name}`, ...pathsIn(one, `${path}.${name}`)])
}

verifies('contract-15.carried', 'no version of its stored form has changed', async () => {
  expect(carriedSchemas.map(hashOf)).toEqual(hashes)
  expect((await readdir(folder)).sort()).toEqual(hashes.map((_, index) => `${index + 1}.json`))
})

describe.each(carriedSchemas.map((schema, index) => [index + 1, schema] as const))('version %i', (version, schema) => {
  verifies('contract-15.carried', 'a stored record that has every field is read whole', async () => {
    const stored = await fixture(version)
    expect([...new Set(pathsIn(stored))]).toEqual(expect.arrayContaining([...new Set(pathsOf(schema))]))
    const { version: _, chain, ...rest } = stored
    const { said: turns, turn, spent: callsUsed } = chain
    expect(decodeCarried(JSON.stringify(stored))).toEqual({ ...rest, chain: { turns, turn, callsUsed } })
  })
})

test('what is written is the newest version, field by field', async () => {
  const newest = carriedSchemas.length
  const carried = decodeCarried(JSON.stringify(await fixture(newest)))
  expect(JSON.parse(encodeCarried(carried))).toEqual(await fixture(newest))
  // An adapter's call may hold more than its type says.
  const [call, ...others] = carried.chain.turn.answer.toolCalls ?? []
  const more = {
    ...carried.chain.turn.answer,
    toolCalls: [{ ...call, index: 0 } as NonNullable<typeof call>, ...others],
  }
  const turn = { ...carried.chain.turn, answer: more }
  expect(decodeCarried(encodeCarried({ ...carried, chain: { ...carried.chain, turn } }))).toEqual(carried)
})

verifies('contract-15.carried', 'what is not known is refused, and the error names it', async () => {
  const stored = await fixture(1)
  const read = (changed: object) => () => decodeCarried(JSON.stringify(changed))
  expect(read({ ...stored, version: 99 })).toThrow('has the version 99')
  const { version: _, ...unversioned } = stored
  expect(read(unversioned)).toThrow('has the version undefined')
  expect(read({ ...stored, more: 1 })).toThrow(/of version 1 .*: \/more /)
  const { said, ...chain } = stored.chain
  expect(read({ ...stored, chain: { ...chain, turns: said } })).toThrow(/of version 1 .*: \/chain /)
  expect(read({ ...stored, fields: { ...stored.fields, seed: 'seven' } })).toThrow('/fields/seed')
})
