/** Contract section 6: the text of a page that `web_fetch` returns, by its bytes. */
import { expect } from 'vitest'
import { cutToBytes, decodeText } from '../../../src/tools/built-in/page-text.ts'
import { verifies } from '../../verifies.ts'

const bytes = (...of: number[]) => Uint8Array.from(of)

verifies('contract-6.web-fetch', 'a byte order mark goes before the header, and the header before a guess', () => {
  expect(decodeText(bytes(0xff, 0xfe, 0xfc, 0), 'shift_jis', false)).toBe('ü')
  expect(decodeText(bytes(0xfe, 0xff, 0, 0xfc), 'utf-8', false)).toBe('ü')
  expect(decodeText(bytes(0xef, 0xbb, 0xbf, 0xc3, 0xbc), 'latin1', false)).toBe('ü')
  expect(decodeText(bytes(0xc3, 0xbc), 'latin1', false)).toBe('Ã¼')
  expect(decodeText(bytes(0xc3, 0xbc), 'made-up', false)).toBe('ü')
  expect(decodeText(bytes(0xfc), '', false)).toBe('ü')
})

verifies(
  'contract-6.web-fetch',
  'half a character at the end is UTF-8 where the page was cut, and a letter elsewhere',
  () => {
    const half = bytes(0x61, 0xc3)
    expect(decodeText(half, '', true)).toBe('a\ufffd')
    expect(decodeText(half, '', false)).toBe('aÃ')
  },
)

verifies('contract-6.web-fetch', 'text and note together keep to the limit, and no character is cut in two', () => {
  expect(cutToBytes('üü', 4, '…')).toBe('üü')
  expect(cutToBytes('üüü', 5, '…')).toBe('ü…')
  expect(cutToBytes('üüü', 4, '…')).toBe('…')
  expect(cutToBytes('\ufeffaaaa', 6, '…')).toBe('\ufeff…')
  expect(cutToBytes('a', 10, '…', true)).toBe('a…')
  expect(cutToBytes('aa', 1, '…')).toBe('…')
})
