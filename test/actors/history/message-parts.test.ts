/** Parts of earlier messages, and the joining of neighbours (contract sections 4, 13 and 29). */
import { expect } from 'vitest'
import { joinNeighbours, withinPartLimit, withTime } from '../../../src/actors/history/message-parts.ts'
import type { MessagePart, ModelMessage, UserMessage } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'

const file = (filename: string, size: number): MessagePart => ({
  ...{ type: 'file', mediaType: 'application/pdf', filename, detail: null, sourceUrl: null, place: 0 },
  ...{ size, sha256: filename, async *read() {} },
})
const withFile = (filename: string, size: number): UserMessage => ({
  role: 'user',
  content: '',
  segments: [file(filename, size)],
})

verifies('contract-13.part-history', 'earlier parts go with the newest first, until one does not fit', () => {
  const sent = (sizes: readonly number[]) =>
    withinPartLimit([...sizes.map((size, index) => withFile(`${index}`, size)), withFile('newest', 1000)], 100).map(
      (message) => 'segments' in message && message.segments?.some((segment) => typeof segment !== 'string') === true,
    )
  expect(sent([50, 50])).toEqual([true, true, true])
  expect(sent([51, 50])).toEqual([false, true, true])
  // The message before it would fit, but is older.
  expect(sent([1, 60, 50])).toEqual([false, false, true, true])
})

verifies('contract-4.history', 'an answer that calls tools is joined with none', () => {
  const said = (content: string): ModelMessage => ({ role: 'assistant', content })
  const calls: ModelMessage = {
    ...said('c'),
    role: 'assistant',
    toolCalls: [{ id: 'x', name: 'look', arguments: '{}' }],
  }
  expect(joinNeighbours([said('a'), said('b'), calls])).toEqual([said('a\n\nb'), calls])
})

verifies('contract-29.prompt-times', 'a message without words is its time alone', () => {
  const at = '2026-11-28T11:50:00.123Z'
  expect(withTime({ role: 'user', content: '' }, at).content).toBe('[2026-11-28T11:50:00Z]')
  expect(withTime({ role: 'user', content: 'a' }, at).content).toBe('a\n\n[2026-11-28T11:50:00Z]')
})
