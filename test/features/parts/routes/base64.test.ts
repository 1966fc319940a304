/** Contract section 13: bytes that come in base64 are held in few blocks, and given back as soon as they are stored. */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { createBase64Decoder, freePieces, STAGE_BYTES } from '../../../../src/features/parts/routes/base64.ts'
import { verifies } from '../../../verifies.ts'

const KIB = 1024

function decoded(text: string, step = 7777) {
  let held = 0
  const hold = (bytes: number) => {
    held += bytes
  }
  const stageRoom = () => Buffer.alloc(STAGE_BYTES)
  const decoder = createBase64Decoder({ maxBytes: 8 * KIB * KIB, hold, stageRoom })
  const all = Buffer.from(text)
  for (let at = 0; at < all.length; at += step) decoder.write(all.subarray(at, at + step))
  return { end: decoder.end(), held }
}

verifies('contract-13.part-limits', 'of any size: the same bytes, in blocks that grow with them, freed at once', () => {
  for (const size of [0, 1, 2, 3, 48 * KIB - 1, 48 * KIB, 48 * KIB + 1, 200_000, 5_000_001]) {
    const bytes = Buffer.alloc(size, 'any bytes \0\xff', 'latin1')
    const { end, held } = decoded(bytes.toString('base64'))
    if (typeof end === 'string') throw new Error(end)
    const { pieces, sha256 } = end
    expect([size, Buffer.concat(pieces).equals(bytes), end.size, held]).toEqual([size, true, size, size])
    expect(sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
    expect(pieces.length).toBeLessThan(10)
    const buffers = pieces.map(({ buffer }) => buffer)
    freePieces(end)
    expect([pieces, buffers.map(({ byteLength }) => byteLength)]).toEqual([[], buffers.map(() => 0)])
  }
})

verifies('contract-13.part-refusals', 'what is no base64 with its padding is broken, however it is cut', () => {
  const broken = ['AAA', 'AAAAA', 'AA=A', '==AA', 'AA-_', 'A===', 'AA =A', 'AAAA====', `${'AAAA'.repeat(16_384)}=AAA`]
  for (const text of broken) {
    for (const step of [1, 3, 100_000])
      expect([text.slice(-10), decoded(text, step).end]).toEqual([text.slice(-10), 'broken'])
  }
  expect(decoded('A'.repeat(12 * KIB * KIB)).end).toBe('too large')
  expect(decoded('AAA=')).toMatchObject({ end: { size: 2 }, held: 2 })
})
