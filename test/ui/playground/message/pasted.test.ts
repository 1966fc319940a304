/** What people paste, and what providers answer, as texts. */
import { expect, test } from 'vitest'
import { readableError } from '../../../../ui/src/blocks/messages/provider-error.ts'
import { isCode, isLong, partsOf } from '../../../../ui/src/playground/message/pasted.ts'

test('fences are code, what stands between them is not', () => {
  const parts = partsOf('Why?\n```ts\nconst a = 1\n```\nIt ends.\n```\nopen')
  expect(parts.map(({ code, language, body }) => [code, language, body])).toEqual([
    [false, '', 'Why?'],
    [true, 'ts', 'const a = 1'],
    [false, '', 'It ends.'],
    [true, '', 'open'],
  ])
  expect(partsOf('```').map(({ code }) => code)).toEqual([false])
  expect(partsOf('').map(({ body }) => body)).toEqual([''])
})

test.each([
  ['function a() {\n  return {\n    b: 1,\n  }\n}', true],
  ['{\n  "a": 1,\n  "b": 2\n}', true],
  ['Dear all,\nI hope this finds you well.\nBest\nAnna', false],
  ['one line;', false],
])('%j is code: %s', (text, code) => expect(isCode(text)).toBe(code))

test('long is by lines and by characters', () => {
  expect([isLong('a\n'.repeat(23)), isLong('a\n'.repeat(24)), isLong('a'.repeat(3_001))]).toEqual([false, true, true])
})

test.each([
  [
    '401 {"error":{"message":"Incorrect API key provided: sk-proj-abcdefghijklmnop1234."}}',
    '401: Incorrect API key provided: sk-…234.',
  ],
  ['{"detail":"No."}', 'No.'],
  ['[{"error":{"message":"Busy."}}]', 'Busy.'],
  ['Plain words.', 'Plain words.'],
])('%s is read as %s', (text, sentence) => expect(readableError(text).sentence).toBe(sentence))

test('the whole answer stays, without its key', () => {
  const { answer } = readableError('{"error":{"message":"Bad key AIzaSyD4567890123456789","code":1}}')
  expect(answer).toContain('"code": 1')
  expect(answer).not.toContain('SyD45678901234')
})
