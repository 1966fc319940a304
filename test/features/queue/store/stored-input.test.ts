/** What a queued message asks for may be read by a later version: every form stays as it was, what is unknown is refused. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { decodeInput, encodeInput, inputSchemas } from '../../../../src/features/queue/store/stored-input.ts'
import { verifies } from '../../../verifies.ts'

const folder = new URL('../../../persistence/fixtures/queued/', import.meta.url)
const fixture = async (version: number) => JSON.parse(await readFile(new URL(`${version}.json`, folder), 'utf8'))

/** A schema is never changed once it was released. A change is a new version: another line, another file. */
const hashes = ['dbb875e913f67680']

const hashOf = (schema: object) => createHash('sha256').update(JSON.stringify(schema)).digest('hex').slice(0, 16)

verifies('contract-22.stored-input', 'no version has changed', async () => {
  expect(inputSchemas.map(hashOf)).toEqual(hashes)
  expect((await readdir(folder)).sort()).toEqual(hashes.map((_, index) => `${index + 1}.json`))
})

verifies('contract-22.stored-input', 'a record that has every field is read whole, and written again', async () => {
  const stored = await fixture(1)
  expect(Object.keys(stored)).toEqual(Object.keys(inputSchemas[0].properties))
  const { version: _, ...rest } = stored
  const input = decodeInput(JSON.stringify(stored))
  expect(input).toEqual(rest)
  expect(JSON.parse(encodeInput(input))).toEqual(stored)
})

verifies('contract-22.stored-input', 'what is not known is refused, and the error names it', async () => {
  const stored = await fixture(1)
  expect(() => decodeInput(JSON.stringify({ ...stored, version: 99 }))).toThrow('has the version 99')
  expect(() => decodeInput(JSON.stringify({ ...stored, more: 1 }))).toThrow(/of version 1 .*: \/more /)
})
