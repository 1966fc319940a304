/** Through nginx with the shipped configuration: any instance serves any request (contract section 7). */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { image, pngOf } from '../features/parts/routes/parts-scene.ts'
import { startNginx } from '../support/programs/nginx.ts'
import { messagesOf, newSession, postJson } from '../support/programs/product.ts'
import { contentOf, openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import { both, cancel, completions, exchange, mend, newest, openScene, type Scene, say, stall, talk } from './scene.ts'

/** In front of an instance: breaks the connection of the first POST when its answer arrives. */
async function startBreaker(url: string) {
  const target = Number(new URL(url).port)
  let broken = 0
  const server = createServer((socket) => {
    const instance = connect(target, '127.0.0.1')
    let isFirstPost = false
    socket.on('data', (bytes) => {
      isFirstPost ||= broken === 0 && bytes.toString('latin1').startsWith('POST')
      instance.write(bytes)
    })
    instance.on('data', (bytes) => {
      if (!isFirstPost) return socket.write(bytes)
      broken += 1
      return socket.destroy()
    })
    for (const [one, other] of [
      [socket, instance],
      [instance, socket],
    ] as const) {
      one.on('error', () => {}).on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return { url: `http://127.0.0.1:${port}`, broken: () => broken, [Symbol.dispose]: () => server.close() }
}

/** With round-robin over three instances, each gets some of so many requests. */
const TIMES = 9

describe.each(both)('$beside', ({ redis }) => {
  let scene: Scene
  let url: string
  beforeAll(async () => {
    scene = await openScene({ redis })
    url = scene.cluster.balancer
  })
  afterAll(() => scene?.close())
  afterEach(() => mend(scene))

  const begin = async () => {
    scene.up.next(stall)
    const session = await newSession(url, scene.agent)
    const stream = await openSse(completions(url, session), say('hello'))
    await stream.next()
    await stream.next()
    return { session, stream }
  }

  verifies('contract-7.any-instance', 'tokens arrive before the reply ends: nothing is buffered', async () => {
    const { stream, session } = await begin()
    expect(contentOf(stream.frames)).toBe('so far')
    expect((await newest(url, session)).status).toBe('streaming')
    expect((await cancel(url, session)).status).toBe(204)
    expect((await stream.rest()).frames.at(-1)?.data).toBe('[DONE]')
  })

  verifies('contract-1.drain', 'messages are routed past an instance that drains or is gone', async () => {
    const { cluster, up, agent } = scene
    up.next(stall)
    const held = await newSession(url, agent)
    const stream = await openSse(completions(cluster.urls[0] ?? '', held), say('hold on'))
    await stream.next()
    const restarted = cluster.restart(0)
    const readiness = async () => (await fetch(`${cluster.urls[0]}/readyz`)).status
    await expect.poll(readiness).toBe(503)
    up.always(talk(2, 1))
    for (let n = 0; n < TIMES; n++) {
      expect(await exchange(url, await newSession(url, agent), 'hello')).toEqual([200, '[DONE]'])
    }
    expect((await cancel(url, held)).status).toBe(204)
    await stream.rest()
    await restarted
    await cluster.kill9(0)
    for (let n = 0; n < TIMES; n++) {
      expect(await exchange(url, await newSession(url, agent), 'hello')).toEqual([200, '[DONE]'])
    }
    await cluster.restart(0)
  })

  verifies('contract-4.idempotency', 'what nginx sends twice is stored once', async () => {
    scene.up.next(talk(2, 1))
    const session = await newSession(url, scene.agent)
    using breaker = await startBreaker(scene.cluster.urls[0] ?? '')
    await using nginx = await startNginx([breaker.url, breaker.url])
    const answer = await postJson(completions(nginx.url, session), say('hello', false))
    expect([answer.status, breaker.broken()]).toEqual([200, 1])
    expect((await messagesOf(url, session)).map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  // What nginx does with a large body has nothing to do with Redis, and costs a second.
  if (redis) return

  verifies('contract-1.body-limit', 'nginx refuses a larger body in the format of the endpoint', async () => {
    const large = 'x'.repeat(67_108_864)
    const session = await newSession(url, scene.agent)
    for (const path of [completions(url, session), `${url}/api/v1/openai/chat/completions`]) {
      const deploy = await postJson(path, say(large))
      expect([deploy.status, await deploy.json()]).toEqual([413, { error: expect.any(String) }])
    }
    const management = await postJson(`${url}/api/v1/prompts`, { name: 'large', content: large })
    expect([management.status, await management.json()]).toEqual([413, { message: expect.any(String) }])
  })

  verifies('contract-13.part-limits', 'nginx lets a message with 20 MiB of pictures through', async () => {
    scene.up.next(talk(2, 1))
    const content = [image(pngOf(20 * 2 ** 20))]
    const session = await newSession(url, scene.agent)
    const answer = await postJson(completions(url, session), { messages: [{ role: 'user', content }] })
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ object: 'chat.completion' })])
  })

  verifies('contract-1.body-limit', 'what is too large for the instances alone has their answer', async () => {
    const session = await newSession(url, scene.agent)
    const answer = await postJson(completions(url, session), say('x'.repeat(16 * 2 ** 20)))
    expect([answer.status, await answer.json()]).toEqual([413, { error: expect.stringContaining('MAX_BODY_BYTES') }])
  })
})
