/** Contract section 26: a body of JSON that is written in pieces. */
import { setImmediate } from 'node:timers/promises'
import { expect } from 'vitest'
import { bodyTexts, readable } from '../../../src/http/streaming/written-lists.ts'
import { verifies } from '../../verifies.ts'

const MIB = 2 ** 20

async function* each<Value>(values: readonly Value[]) {
  yield* values
}

verifies('contract-26.long-lists', 'it is the JSON of its fields, in pieces of at most 1 MiB', async () => {
  for (const [fields, plain] of [
    [{}, {}],
    [{ messages: each([]) }, { messages: [] }],
    [{ a: 1, b: undefined, messages: each([1, { c: 'é'.repeat(3 * MIB) }, null]), d: [] }, null],
    [{ id: 'x', messages: ['a', { b: [1] }], last: null }, null],
  ] as const) {
    const pieces: Buffer[] = []
    for await (const piece of readable(bodyTexts(fields))) pieces.push(piece)
    const expected = plain ?? { ...fields, ...('a' in fields && { messages: [1, { c: 'é'.repeat(3 * MIB) }, null] }) }
    expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual(JSON.parse(JSON.stringify(expected)))
    expect(pieces.filter(({ length }) => length > MIB)).toEqual([])
  }
})

verifies('contract-26.long-lists', 'nothing is read ahead of its reader', async () => {
  let read = 0
  async function* many() {
    for (; read < 100; read += 1) yield 'x'.repeat(MIB / 2)
  }
  const stream = readable(bodyTexts({ messages: many() }))
  const reader = stream[Symbol.asyncIterator]()
  await reader.next()
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
  expect(read).toBeLessThan(9)
  stream.destroy()
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
  expect(read).toBeLessThan(9)
})
