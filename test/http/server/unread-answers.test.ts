/** Contract section 26: an answer that nobody reads is not held for ever. */
import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import { expect, onTestFinished, vi } from 'vitest'
import { addressOf } from '../../../src/http/server/server.ts'
import { closeUnreadAnswers } from '../../../src/http/streaming/unread-answers.ts'
import { verifies } from '../../verifies.ts'

verifies('contract-26.unread', 'its connection is closed; one that is read slowly stays, and comes whole', async () => {
  // Time passes as the one is read, and no further when the machine stands still.
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const body = 'x'.repeat(30_000_000)
  await using app = Fastify()
  closeUnreadAnswers(app, { stalledMs: 1500, checkMs: 50 })
  app.get('/', async () => body)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = new URL(addressOf(app.server.address(), '127.0.0.1'))
  const open = () =>
    connect(Number(port), '127.0.0.1', function (this: ReturnType<typeof connect>) {
      this.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    })
  const [unread, slow] = [open(), open()]
  unread.pause().on('error', () => {})
  let read = 0
  slow.on('data', (chunk: Buffer) => {
    read += chunk.length
    slow.pause()
    vi.advanceTimersByTime(5)
    setTimeout(() => slow.resume(), 5)
  })
  const connections = () => new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))
  await once(slow, 'end')
  expect(read).toBeGreaterThan(body.length)
  vi.advanceTimersByTime(1500)
  await expect.poll(connections).toBe(0)
})
