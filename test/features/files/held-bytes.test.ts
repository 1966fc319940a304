/** How much of a file an instance holds while its bytes come and go (contract section 32). */
import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect } from 'vitest'
import { openScene } from '../../http/scene.ts'
import { verifies } from '../../verifies.ts'

const scene = await openScene()
const files = `${scene.agent}/deploy/files`
const SIZE = 16 * 2 ** 20
const MOST_HELD = 2 * 2 ** 20

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  socket: Socket
}

/** The server's side of the newest request for files. */
let newest: Exchange | null = null
const see = (message: unknown) => {
  // The type that Node documents for this channel.
  const exchange = message as Exchange
  if (exchange.request.url?.startsWith(files)) newest = exchange
}
beforeAll(() => subscribe('http.server.request.start', see))
afterAll(async () => {
  unsubscribe('http.server.request.start', see)
  await scene.close()
})

const send = (method: string, path: string, headers: Record<string, string> = {}) =>
  httpRequest(`${scene.app.url}${path}`, { method, headers })

async function textOf(answer: IncomingMessage): Promise<string> {
  return Buffer.concat(await answer.toArray()).toString()
}

/** Waits until the server has taken or sent as much as it does: three looks see the same, with other requests between. */
async function settled(look: (exchange: Exchange) => number): Promise<number> {
  const seen: number[] = []
  await expect
    .poll(async () => {
      await scene.call('GET', '/livez')
      seen.push(newest === null ? 0 : look(newest))
      const last = seen.slice(-3)
      return last.length === 3 && last.every((one) => one > 0 && one === last[0])
    })
    .toBe(true)
  return seen.at(-1) ?? 0
}

verifies(
  'contract-32.files-held',
  'an upload is read no faster than it is stored, and sent no faster than it is read',
  async () => {
    const bytes = Buffer.from(randomBytes(SIZE / 2).toString('hex'))
    const head = '--edge\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--edge--\r\n')])
    const upload = send('POST', files, { 'content-type': 'multipart/form-data; boundary=edge' })
    const made = once(upload, 'response')
    await scene.app.sql.begin(async (tx) => {
      await tx`lock table part_pieces in exclusive mode`
      upload.end(body)
      const waits = () => tx`select 1 from pg_locks where relation = 'part_pieces'::regclass and not granted`
      await expect.poll(async () => (await waits()).length).toBe(1)
      // Nothing of it is stored: all that was read is held.
      expect(await settled(({ socket }) => socket.bytesRead)).toBeLessThan(MOST_HELD)
    })
    const [stored]: IncomingMessage[] = await made
    const { id, bytes: size } = JSON.parse(stored ? await textOf(stored) : '{}')
    expect(size).toBe(SIZE)

    const download = send('GET', `${files}/${id}/content`)
    download.end()
    const [answer]: IncomingMessage[] = await once(download, 'response')
    expect(await settled(({ response }) => response.writableLength)).toBeLessThan(MOST_HELD)
    expect(answer && (await textOf(answer)) === bytes.toString()).toBe(true)
  },
)
