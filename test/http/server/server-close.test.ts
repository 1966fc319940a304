/**
 * The beginning of a server, and its end (contract section 1, drain): requests under way are answered, and no client
 * can delay it.
 */
import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import { closeServer, createServer } from '../../../src/http/server/server.ts'

const options = {
  logLevel: 'silent',
  maxBodyBytes: 1024,
  trustProxy: null,
  deployKeys: [],
  credentials: null,
  hosts: { allowedHosts: [], loopbackOnly: true },
}

async function listening() {
  const app = createServer(options)
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  app.get('/slow', async () => {
    begun.resolve()
    await goOn.promise
    return { ok: true }
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, url, begun: begun.promise, goOn: goOn.resolve }
}

test('on a busy machine, mounting may take any time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const app = createServer(options)
    const mounted = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    app.register(async () => {
      begun.resolve()
      await mounted.promise
    })
    const ready = app.ready()
    await begun.promise
    await vi.advanceTimersByTimeAsync(600_000)
    mounted.resolve()
    await ready
  } finally {
    vi.useRealTimers()
  }
})

test('a request that was taken is answered, on a connection that is then closed', async () => {
  const { app, url, begun, goOn } = await listening()
  const answer = fetch(`${url}/slow`)
  await begun
  const closed = closeServer(app, 60_000)
  await expect.poll(() => app.server.listening).toBe(false)
  goOn()
  expect(await (await answer).json()).toEqual({ ok: true })
  await closed
  await expect(fetch(`${url}/slow`)).rejects.toThrow()
})

test('one that takes longer, or a connection that never asks, is cut off', async () => {
  const { app, url, begun } = await listening()
  const answer = fetch(`${url}/slow`)
  answer.catch(() => {})
  await begun
  const half = connect(Number(new URL(url).port), '127.0.0.1')
  await new Promise((resolve) => half.once('connect', resolve))
  half.write('POST /slow HTTP/1.1\r\n')
  const cut = new Promise((resolve) => half.once('close', resolve))
  half.on('error', () => {})
  await closeServer(app, 100)
  await expect(answer).rejects.toThrow()
  await cut
})
