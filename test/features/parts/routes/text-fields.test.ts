/** Fields in which a `data:` URL is a text keep the digits of their numbers (contract section 35). */
import { expect } from 'vitest'
import { createUploads } from '../../../../src/features/parts/routes/uploads.ts'
import { createShare } from '../../../../src/http/server/request-body/shares.ts'
import { parseNoted, writeExact } from '../../../../src/untrusted/exact-json.ts'
import { verifies } from '../../../verifies.ts'

verifies('contract-35.digits', 'of a request that holds data: URLs', async () => {
  const tools = [
    { max: '1917043659912705297' },
    {
      url: `data:image/png;base64,${Buffer.from('picture!').toString('base64')}`,
      list: ['1.0', '12345678901234567890123'],
    },
  ]
  const text = JSON.stringify({ tools, other: 1 }).replaceAll(/"([\d.]+)"/g, '$1')
  const share = createShare({ bytes: 2 ** 26, holders: 1 }, 0)
  const uploads = createUploads(
    2 ** 20,
    () => share.account('somebody'),
    () => null,
  )
  const pieces: Buffer[] = []
  uploads.filter().pass(Buffer.from(text), (bytes) => void pieces.push(Buffer.from(bytes)))
  const filtered = Buffer.concat(pieces).toString()
  expect(filtered).not.toContain('data:')
  const body = parseNoted(filtered)
  uploads.restoreFields(body)
  expect(writeExact(body)).toBe(text)
})
