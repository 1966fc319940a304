/** Contract section 13: pictures and files that are two things at once, unfold to far more, or have names that are paths. */
import { deflateSync, gzipSync } from 'node:zlib'
import { afterAll, expect } from 'vitest'
import { openScene } from '../../../http/scene.ts'
import { refusedRequest } from '../../../support/network/refused-request.ts'
import { verifies } from '../../../verifies.ts'
import { dataUrl, file, image, pdf, png } from './parts-scene.ts'

const MIB = 2 ** 20
const bomb = deflateSync(Buffer.alloc(50 * MIB)).toString('latin1')
/** Made before the instance runs in this process: an instance that stands still for long may not write. */
const large: [Buffer, string][] = [
  [png({ width: 10_000, height: 5_000 }), 'image/png'],
  [
    Buffer.from(`%PDF-1.7\n1 0 obj<</Filter/FlateDecode/Length ${bomb.length}>>stream\n${bomb}`, 'latin1'),
    'application/pdf',
  ],
]

const scene = await openScene({ settings: {} })
afterAll(scene.close)
scene.says(['ok'])

const script = '<html><script>alert(1)</script>'
const gif = '4749463839610100010080000000000000000021f90401000000002c00000000010001000002024401003b'
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
const zip = Buffer.from('504b0304140000000800', 'hex')

const send = (id: string, part: object, headers = {}) =>
  scene.call(
    'POST',
    `${scene.sessions}/${id}/chat/completions`,
    { messages: [{ role: 'user', content: [part] }] },
    headers,
  )
async function sent(part: object) {
  const id = await scene.newSession()
  const { status, text: said } = await send(id, part)
  if (status !== 200) throw new Error(said)
  const [message] = await scene.messages(id)
  const read = await fetch(`${scene.app.url}${message.parts[0].url}`)
  return { status, part: message.parts[0], read, bytes: Buffer.from(await read.arrayBuffer()) }
}

verifies(
  ['contract-13.part-storage', 'contract-13.parts'],
  'what is a document too is read back as what it was sent as, and never run',
  async () => {
    const polyglots: [Buffer, string][] = [
      [Buffer.concat([Buffer.from(gif, 'hex'), Buffer.from(script)]), 'image/gif'],
      [Buffer.concat([png({ text: script }), Buffer.from(script)]), 'image/png'],
      [Buffer.concat([png(), zip]), 'image/png'],
      [Buffer.concat([pdf(script), Buffer.from(script)]), 'application/pdf'],
      [svg, 'text/plain'],
      [Buffer.from(script), 'text/markdown'],
    ]
    for (const [bytes, mediaType] of polyglots) {
      const isPicture = mediaType.startsWith('image/')
      const { status, read, bytes: back } = await sent(isPicture ? image(bytes, mediaType) : file(bytes, mediaType))
      const header = (name: string) => read.headers.get(name)
      expect([mediaType, status, header('content-type')?.split(';')[0], back.equals(bytes)]).toEqual([
        mediaType,
        200,
        mediaType,
        true,
      ])
      expect([
        header('content-disposition'),
        header('x-content-type-options'),
        header('content-security-policy'),
      ]).toEqual(['attachment', 'nosniff', "default-src 'none'; sandbox"])
    }
  },
)

verifies('contract-13.part-refusals', 'what only holds such a thing is none', async () => {
  const id = await scene.newSession()
  const url = 'messages.0.content.0.image_url.url'
  const data = 'messages.0.content.0.file.file_data'
  for (const [part, field] of [
    [image(Buffer.concat([Buffer.from(script), png()])), url],
    [image(Buffer.concat([Buffer.from(script), Buffer.from(gif, 'hex')]), 'image/gif'), url],
    [image(svg), url],
    [image(svg, 'image/svg+xml'), url],
    [image(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), svg]), 'image/webp'), url],
    [file(Buffer.concat([Buffer.from(script), pdf()]), 'application/pdf'), data],
    [file(zip, 'application/pdf'), data],
    [file(zip, 'text/csv'), data],
    [file(gzipSync(Buffer.alloc(MIB)), 'text/plain'), data],
    [file(gzipSync(pdf()), 'application/pdf'), data],
  ] as const) {
    const { status, json } = await send(id, part)
    expect([status, json]).toEqual([400, refusedRequest(field)])
  }
  expect(await scene.messages(id)).toEqual([])
})

verifies('contract-13.parts', 'what unfolds to far more is passed on as it is: nothing here unfolds it', async () => {
  for (const [bytes, mediaType] of large) {
    const { arrayBuffers } = process.memoryUsage()
    const { status, part } = await sent(mediaType === 'image/png' ? image(bytes) : file(bytes, mediaType))
    expect([status, part.size]).toEqual([200, bytes.length])
    expect(bytes.length).toBeLessThan(MIB)
    expect(process.memoryUsage().arrayBuffers - arrayBuffers).toBeLessThan(40 * MIB)
    const [content] = scene.up.calls.at(-1)?.body.messages[0].content ?? []
    expect(JSON.stringify(content)).toContain(dataUrl(mediaType, bytes))
  }
  const packed = await fetch(`${scene.app.url}${scene.agent}/deploy/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify({ messages: [{ role: 'user', content: [image()] }] })),
  })
  expect(packed.status).toBe(415)
})

verifies(
  'contract-13.part-refusals',
  'of a name that is a path its last segment stays, as plain characters',
  async () => {
    const names: [string, string | null][] = [
      ['../../etc/passwd', 'passwd'],
      ['/etc/cron.d/', 'cron.d'],
      ['C:\\temp\\..\\a.pdf', 'a.pdf'],
      ['..', null],
      ['////', null],
      ['.htaccess', 'htaccess'],
      ['a\r\nSet-Cookie: x=1.pdf', 'aSet-Cookie_ x=1.pdf'],
      ['a"; filename="b.exe', 'a_; filename=_b.exe'],
      ['fdp.\u202eexe', 'fdp.exe'],
      [`${'x'.repeat(5000)}.pdf`, `${'x'.repeat(196)}.pdf`],
      ['%2e%2e%2fa.pdf', '%2e%2e%2fa.pdf'],
      ['計画 🗺️.pdf', '計画 🗺️.pdf'],
    ]
    for (const [given, kept] of names) {
      const { part, read } = await sent(file(pdf(), 'application/pdf', given))
      const shown = read.headers.get('content-disposition') ?? ''
      const [, encoded] = /filename\*=UTF-8''([\w%.~-]+)$/.exec(shown) ?? []
      expect([given, part.filename, encoded === undefined ? shown : decodeURIComponent(encoded)]).toEqual([
        given,
        kept,
        kept ?? 'attachment',
      ])
      const [content] = scene.up.calls.at(-1)?.body.messages[0].content ?? []
      expect([given, content.file.filename]).toEqual([given, kept ?? expect.any(String)])
    }
    const { status, json } = await send(await scene.newSession(), file(pdf(), 'application/pdf', 'a\0.pdf'))
    expect([status, json]).toEqual([400, refusedRequest('U+0000', 'messages.0.content.0.file.filename')])
  },
)
