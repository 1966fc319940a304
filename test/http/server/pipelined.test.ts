/** Requests that come before the answers to earlier ones: contract section 18, over real sockets. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, expect } from 'vitest'
import { MOST_AT_ONCE } from '../../../src/http/server/request-body/pipelined.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'

const scene = await openScene()
afterAll(scene.close)

/** What one connection is answered that sends so many requests in one packet. `last`: the header that the last one has. */
async function answersTo(requests: number, last = ''): Promise<string> {
  const { hostname, port, host } = new URL(scene.app.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const one = (more: string) => `GET /livez HTTP/1.1\r\nhost: ${host}\r\n${more}\r\n`
  socket.write(one('').repeat(requests - 1) + one(last))
  let text = ''
  socket.setEncoding('latin1').on('data', (more: string) => {
    text += more
  })
  socket.on('error', () => {})
  await once(socket, 'close')
  return text
}

const count = (text: string) => text.match(/HTTP\/1\.1 200 /g)?.length ?? 0

verifies('contract-18.livez', 'requests that a client pipelines are answered, up to a number', async () => {
  expect(count(await answersTo(MOST_AT_ONCE, 'connection: close\r\n'))).toBe(MOST_AT_ONCE)
})

verifies('contract-18.livez', 'a connection that sends more at once is cut off', async () => {
  expect(count(await answersTo(MOST_AT_ONCE + 1))).toBeLessThanOrEqual(MOST_AT_ONCE)
})

verifies('contract-18.livez', 'one after the other there may be any number on a connection', async () => {
  const { hostname, port, host } = new URL(scene.app.url)
  const socket = connect(Number(port), hostname)
  for (let n = 0; n < 3 * MOST_AT_ONCE; n++) {
    socket.write(`GET /livez HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
  }
  socket.destroy()
})
