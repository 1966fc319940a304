/** What a running reply stores to go on elsewhere is read by other releases: every version stays as it was. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import {
  decodeStart,
  decodeTurn,
  encodeStart,
  encodeTurn,
  startSchemas,
  turnSchemas,
} from '../../../../src/features/continuation/store/stored-turn.ts'
import { verifies } from '../../../verifies.ts'

const fixture = async (name: string) =>
  await readFile(new URL(`../../../persistence/fixtures/turns/${name}.json`, import.meta.url), 'utf8')
const hashOf = (schema: object) => createHash('sha256').update(JSON.stringify(schema)).digest('hex').slice(0, 16)

/** A schema is never changed once it was released. A change is a new version: another hash, another file. */
verifies('contract-21.stored', 'no version of its stored form has changed', () => {
  expect(startSchemas.map(hashOf)).toEqual(['f3dd8390db4e228c'])
  expect(turnSchemas.map(hashOf)).toEqual(['4f1812c6905325dd'])
})

verifies(
  'contract-21.stored',
  'a stored record that has every field is read whole, and written as it was',
  async () => {
    const text = await fixture('turn-1')
    const { turn, start } = decodeTurn(text)
    expect(JSON.parse(encodeTurn(turn, start))).toEqual(JSON.parse(text))
    const began = await fixture('start-1')
    expect(JSON.parse(encodeStart(decodeStart(began)))).toEqual(JSON.parse(began))
  },
)

test('what is not known is refused, and the error names it', async () => {
  const stored = JSON.parse(await fixture('turn-1'))
  expect(() => decodeTurn(JSON.stringify({ ...stored, version: 9 }))).toThrow('has the version 9')
  expect(() => decodeTurn(JSON.stringify({ ...stored, more: 1 }))).toThrow(/of version 1 .*: \/more /)
})
