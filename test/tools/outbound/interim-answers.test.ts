/** Informational answers that nobody asked for, on every outbound connection (contract section 35). */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { verifies } from '../../verifies.ts'

const never = new AbortController().signal
const interim = (status: string, more = '') => `HTTP/1.1 ${status}\r\n${more}\r\n`
const body = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 x\r\n\r\n'
const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`

/** A server that answers each request of a connection with the same bytes, in pieces of `size`. */
async function serve(bytes: string, size: number): Promise<string> {
  const server = createServer((socket) => {
    socket.setNoDelay(true).on('error', () => {})
    socket.on('data', async (request) => {
      if (!request.toString().includes('\r\n\r\n')) return
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.slice(at, at + size), 'latin1')
        await setImmediate()
      }
    })
    onTestFinished(() => void socket.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const before: [string, string][] = [
  ['100', interim('100 Continue')],
  ['100 with headers', interim('100 Continue', 'x-a: b\r\ndate: 1\r\n')],
  [
    '100 twice, 102, 103 with links',
    `${interim('100')}${interim('100 Continue')}${interim('102 x')}${interim('103 Early Hints', 'link: <a>\r\n')}`,
  ],
  ['103, then 100', `${interim('103 Early Hints')}${interim('100 Continue')}`],
  ['101 with an upgrade', interim('101 Switching Protocols', 'connection: upgrade\r\nupgrade: h2c\r\n')],
]
for (const [name, heads] of before) {
  for (const size of [100_000, 7, 1]) {
    verifies('contract-35.interim', `${name}, in pieces of ${size}`, async () => {
      await using outbound = createOutbound({ policy: 'standard', allow: [] })
      const url = await serve(heads + answer, size)
      // Twice: the connection is kept.
      for (let times = 0; times < 2; times += 1) {
        const response = await outbound.fetch(url, { chosenBy: 'admin', method: 'POST', body: '{}', signal: never })
        expect([response.status, await response.text()]).toEqual([200, body])
        const called = await outbound.call(url, { method: 'POST', headers: {}, body: '{}', signal: never })
        const pieces: Uint8Array[] = []
        await called.read((bytes) => void pieces.push(Uint8Array.from(bytes)))
        expect([called.status, Buffer.concat(pieces).toString()]).toEqual([200, body])
      }
    })
  }
}
