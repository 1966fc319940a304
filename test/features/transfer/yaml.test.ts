/** YAML documents are read beside the server, within bounds of values and time (contract section 18). */
import { expect } from 'vitest'
import { parseYaml } from '../../../src/features/transfer/routes/yaml-body.ts'
import { HttpError } from '../../../src/http/server/http-error.ts'
import { verifies } from '../../verifies.ts'

const faultOf = (text: string, deadlineMs?: number) =>
  parseYaml(text, deadlineMs).then(
    () => null,
    (error: unknown) => (error instanceof HttpError ? [error.status, error.message] : error),
  )

/** Enough for each document below on a busy machine, and for none whose keys are compared with one another. Milliseconds. */
const LONG = 30_000

verifies('contract-18.import', '45,000 keys are read in time: none is compared with all before it', async () => {
  const keys = Array.from({ length: 45_000 }, (_, n) => `key${n}: 1`).join('\n')
  expect(Object.keys(Object(await parseYaml(keys, LONG)))).toHaveLength(45_000)
  expect(await faultOf('a: 1\nb: 2\na: 3')).toEqual([400, expect.stringContaining('key')])
})

verifies('contract-18.import', 'too many values are refused before anything is built of them', async () => {
  // A parser that builds them first meets what is no YAML behind them.
  const text = `[${'{},'.repeat(205_000)}\n]: }`
  expect(await faultOf(text, LONG)).toEqual([400, 'body: must not hold more than 100000 values'])
})

verifies('contract-18.import', 'a document that takes too long is given up', async () => {
  expect(await faultOf('a: 1', 0)).toEqual([400, 'body: takes too long to read'])
})

verifies('contract-18.import', 'one at a time, and more than four are sent away', async () => {
  const faults = await Promise.all(Array.from({ length: 6 }, () => faultOf('a: 1')))
  const away = [503, expect.any(String)]
  expect(faults).toEqual([null, null, null, null, away, away])
})
