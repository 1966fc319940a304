/** A body that is no JSON is refused with the place of its fault. */
import { expect, test } from 'vitest'
import { readJson } from '../../../src/http/server/body.ts'

test.each([
  ['{"a": 1,\n "b": [1, 2', 'at position 20 (line 2 column 12)'],
  ['{"a":', 'at its end, position 5 (line 1 column 6)'],
  ['{"a": "b', 'at position 8 (line 1 column 9)'],
  ['nope', 'at position 1 (line 1 column 2)'],
  ['{"a":tru}', 'at position 8 (line 1 column 9)'],
  [`{"a": "${'x'.repeat(100)}",\n tru}`, 'at position 111 (line 2 column 2)'],
  ['{"a":1}x', 'at position 7 (line 1 column 8)'],
])('%j: the place of the fault is named', (body, place) => {
  expect(() => readJson(Buffer.from(body))).toThrow(`body: is not valid JSON (${place})`)
})
