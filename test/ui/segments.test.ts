/** The text of a reply around its calls. */
import { expect, test } from 'vitest'
import { paragraphs, segments } from '../../ui/src/replies/segments.ts'

test('text before a call and text after it do not run together', () => {
  const call = { offset: 12 }
  expect(paragraphs('Let me look.It is late.', [call])).toBe('Let me look.\n\nIt is late.')
  expect(segments('Let me look.It is late.', [call, call])).toEqual([
    { key: 'text 0', at: 0, text: 'Let me look.' },
    { key: 'call 0', call },
    { key: 'call 1', call },
    { key: 'text 12', at: 12, text: 'It is late.' },
  ])
  expect(paragraphs('Whole.', [])).toBe('Whole.')
})
