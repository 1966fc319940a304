/** Bytes that are stored stay in memory for the first who reads them, and give way to what arrives. */
import { expect, test } from 'vitest'
import { createBase64Decoder, STAGE_BYTES } from '../../../../src/features/parts/routes/base64.ts'
import { createUploads, type Uploads } from '../../../../src/features/parts/routes/uploads.ts'
import { createShare, heldBytes } from '../../../../src/http/server/request-body/shares.ts'

const MIB = 2 ** 20
const share = createShare({ bytes: 256 * MIB, holders: 1 }, 0)
const open = () =>
  createUploads(
    0,
    () => share.account('somebody'),
    () => null,
  )

function upload(uploads: Uploads, size: number) {
  const decoder = createBase64Decoder({
    maxBytes: 20 * MIB,
    hold: uploads.hold,
    stageRoom: () => Buffer.alloc(STAGE_BYTES),
  })
  decoder.write(Buffer.from(Buffer.alloc(size, 'picture ').toString('base64')))
  const data = decoder.end()
  if (typeof data === 'string') throw new Error(data)
  return data
}

async function read(pieces: AsyncIterable<Uint8Array> | null): Promise<Buffer | null> {
  if (pieces === null) return null
  const copies: Buffer[] = []
  for await (const piece of pieces) copies.push(Buffer.from(piece))
  return Buffer.concat(copies)
}

test('what is stored is read from memory once, and counts until it has been', async () => {
  const uploads = open()
  const [one, other] = [upload(uploads, 3 * MIB), upload(uploads, MIB)]
  const { buffer } = one.pieces[0] ?? {}
  uploads.cache([one, one])
  expect(heldBytes()).toBe(3 * MIB)
  expect((await read(uploads.drain(one)))?.equals(Buffer.alloc(3 * MIB, 'picture '))).toBe(true)
  expect([heldBytes(), buffer?.byteLength, uploads.drain(one), uploads.drain(other)]).toEqual([0, 0, null, null])
})

test('a request that has ended leaves nothing but to who is reading', async () => {
  const uploads = open()
  const [one, other] = [upload(uploads, 3 * MIB), upload(uploads, MIB)]
  uploads.cache([one, other])
  const reading = uploads.drain(one)?.[Symbol.asyncIterator]()
  await reading?.next()
  uploads.release()
  expect([heldBytes(), uploads.drain(other), other.pieces]).toEqual([3 * MIB, null, []])
  await reading?.return?.()
  expect(heldBytes()).toBe(0)
})

test('what arrives takes the room of what is stored', () => {
  const [stored, arriving] = [open(), open()]
  const one = upload(stored, 10 * MIB)
  stored.cache([one])
  arriving.hold(250 * MIB)
  expect([stored.drain(one), heldBytes()]).toEqual([null, 250 * MIB])
  stored.release()
  arriving.release()
  expect(heldBytes()).toBe(0)
})

test('bytes that are being stored stay whole, and count, when the request breaks off', async () => {
  const uploads = open()
  const one = upload(uploads, 3 * MIB)
  const stored = Promise.withResolvers<void>()
  const storing = uploads.during(() => stored.promise)
  uploads.release()
  expect(Buffer.concat(one.pieces).equals(Buffer.alloc(3 * MIB, 'picture '))).toBe(true)
  expect(heldBytes()).toBe(3 * MIB)
  stored.resolve()
  await storing
  uploads.cache([one])
  expect([uploads.drain(one), heldBytes(), one.pieces]).toEqual([null, 0, []])
})
