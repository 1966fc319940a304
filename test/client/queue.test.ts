/** Messages that wait, through the client, in sessions of both APIs (contract section 22). */
import { expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { openClientScene } from './scene.ts'

const { agent, agentId, client, proxy, up } = await openClientScene()

const sessions = { deploy: () => agent.session(), playground: () => client.playground(agentId).session() }

for (const api of ['deploy', 'playground'] as const) {
  verifies('contract-22.surfaces', `${api}: the client queues, steers, looks and takes back`, async () => {
    const session = sessions[api]()
    const { promise: goOn, resolve: end } = Promise.withResolvers<void>()
    up.next(async (call) => {
      await call.text('first')
      await goOn
      await call.finish()
    })
    const first = session.send('one')
    await first[Symbol.asyncIterator]().next()
    const queued = session.enqueue('later')
    await expect.poll(async () => (await session.queue()).length).toBe(1)
    const away = session.enqueue('away')
    await expect.poll(async () => (await session.queue()).length).toBe(2)
    const steering = session.steer('sooner')
    await expect.poll(async () => (await session.queue()).length).toBe(3)
    const queue = await session.queue()
    expect(queue.map(({ content, position }) => [content, position])).toEqual([
      ['sooner', 1],
      ['later', 2],
      ['away', 3],
    ])
    await session.dequeue(queue[2]?.id ?? '')
    await expect(away.text()).rejects.toMatchObject({ code: 'dequeued' })
    for (const text of ['at once', 'at last']) {
      up.next(async (call) => {
        await call.text(text)
        await call.finish()
      })
    }
    end()
    expect([await steering.text(), await queued.text()]).toEqual(['at once', 'at last'])
  })
}

verifies(
  'contract-22.surfaces',
  'playground: a queued message whose connection breaks is found again by its key, and is answered once',
  async () => {
    const session = sessions.playground()
    const { promise: goOn, resolve: end } = Promise.withResolvers<void>()
    up.next(async (call) => {
      await call.text('first')
      await goOn
      await call.finish()
    })
    up.next(async (call) => {
      await call.text('second')
      await call.finish()
    })
    const first = session.send('one')
    const read = first.text()
    await expect.poll(() => first.messageId).not.toBeNull()
    const { promise: open, resolve: onOpen } = Promise.withResolvers<void>()
    const queued = session.enqueue('two', { onConnection: (state) => void (state === 'open' && onOpen()) })
    await open
    proxy.drop()
    end()
    expect(await read).toBe('first')
    expect(await queued.text()).toBe('second')
  },
)
