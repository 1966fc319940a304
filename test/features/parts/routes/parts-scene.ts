/** Pictures and files for tests. */
import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'

/** A PNG of so many pixels, all of one colour; `text` makes it another one, of other bytes. */
export function png({ width = 1, height = 1, text = '' } = {}): Buffer {
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 0, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    ...(text === '' ? [] : [chunk('tEXt', Buffer.from(`Comment\0${text}`))]),
    chunk('IDAT', deflateSync(Buffer.alloc((width + 1) * height))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A PNG of exactly so many bytes. */
export const pngOf = (bytes: number): Buffer => {
  const plain = png({ text: 'x' }).length - 1
  return png({ text: 'x'.repeat(bytes - plain) })
}

export const pdf = (text = 'hello'): Buffer => Buffer.from(`%PDF-1.7\n% ${text}\n%%EOF\n`)

export const dataUrl = (mediaType: string, bytes: Uint8Array): string =>
  `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`

export const image = (bytes: Uint8Array = png(), mediaType = 'image/png') => ({
  type: 'image_url',
  image_url: { url: dataUrl(mediaType, bytes) },
})

export const file = (bytes: Uint8Array, mediaType: string, filename?: string) => ({
  type: 'file',
  file: { file_data: dataUrl(mediaType, bytes), ...(filename !== undefined && { filename }) },
})

export const text = (words: string) => ({ type: 'text', text: words })

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
