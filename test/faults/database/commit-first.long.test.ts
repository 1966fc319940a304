/** Tools act only on stored calls, under a valid lease (contract section 10). A shop counts the purchases. */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { asks, says, type ToolRequest } from '../../http/tool-scene.ts'
import { storedFrames } from '../../support/frames.ts'
import type { Script } from '../../support/network/upstream.ts'
import { deployUrl, newSession, type Product } from '../../support/programs/product.ts'
import { contentOf, openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { openToolFaults, repliesOf, type ToolFaults } from '../tool-faults.ts'
import { readUntil } from './database-scene.ts'

const say = (content: string) => ({ messages: [{ role: 'user', content }], stream: true })
const gate = () => Promise.withResolvers<void>()
const unknown = { id: 'the-call', name: 'buy', ok: null, content: null, durationMs: null }

/** A turn whose call is held back until `asked`. */
const buysAfter =
  (asked: Promise<void>): Script =>
  async (call) => {
    await call.text('One moment. ')
    await asked
    await asks('', { name: 'buy', arguments: '{}', id: 'the-call' })(call)
  }

/** Whether the call is committed. */
const isStored = async ({ database }: Pick<ToolFaults, 'database'>): Promise<boolean> =>
  (await storedFrames(database.sql)).some(({ text }) => text.includes('the-call'))

for (const fault of ['stall', 'refuse'] as const) {
  verifies(
    ['contract-10.commit-first', 'contract-10.lease'],
    `a database unavailable for less than half a lease (${fault}): nothing is bought before it is stored, the reply completes`,
    async () => {
      const storedAtCall: boolean[] = []
      const answer = async (_: ToolRequest) => {
        storedAtCall.push(await isStored(scene))
        return 'sold'
      }
      await using scene = await openToolFaults({ leaseMs: 6000, answer })
      const { up, shop, proxy } = scene
      const product = await scene.start()
      const session = await newSession(product.url, scene.agentId())
      const asked = gate()
      up.next(buysAfter(asked.promise))
      const stream = await openSse(`${product.url}${session}/chat/completions`, say('Buy!'))
      await readUntil(stream, 'One moment. ')
      proxy[fault]()
      asked.resolve()
      await (await up.call(1)).closed
      await delay(2000) // the outage itself
      expect(shop.requests).toEqual([])
      proxy.restore()
      const { broken, frames } = await stream.rest()
      expect([broken, contentOf(frames), frames.at(-1)?.data]).toEqual([false, 'One moment. Bought.', '[DONE]'])
      expect(storedAtCall).toEqual([true])
      expect(await repliesOf(product.url, session)).toMatchObject([{ status: 'complete', toolCalls: [{ ok: true }] }])
    },
  )
}

const stop = ({ pid }: Product) => void process.kill(pid, 'SIGSTOP')
const wake = ({ pid }: Product) => void process.kill(pid, 'SIGCONT')

for (const heir of [false, true]) {
  verifies(
    'contract-10.lease',
    `an owner that wakes after its lease, its call committed meanwhile, does not act (${heir ? 'declared lost' : 'alone'})`,
    async () => {
      await using scene = await openToolFaults({ leaseMs: 3000 })
      const { up, shop, proxy, database } = scene
      const owner = await scene.start()
      const [row] = await database.sql<{ id: string }[]>`select id from instances`
      const reader = heir ? await scene.start('direct') : owner
      const session = await newSession(owner.url, scene.agentId())
      const asked = gate()
      up.next(buysAfter(asked.promise))
      const stream = await openSse(`${owner.url}${session}/chat/completions`, say('Buy!'))
      await readUntil(stream, 'One moment. ')
      // The call is committed, but the owner is suspended before it gets the response.
      const held = proxy.holdAnswerTo('the-call')
      asked.resolve()
      await held
      await expect.poll(() => isStored(scene)).toBe(true)
      stop(owner)
      proxy.restore()
      const over = async () =>
        (
          await database.sql`select 1 from instances where id = ${row?.id ?? ''}
             and case when ${heir} then lost_at is not null else lease_until < clock_timestamp() end`
        ).length
      await expect.poll(over).toBe(1)
      wake(owner)
      const newest = async () => (await repliesOf(reader.url, session))[0]
      await expect.poll(async () => (await newest())?.status).toBe('error')
      expect(await newest()).toMatchObject({
        error: { code: heir ? 'instance_lost' : 'internal' },
        toolCalls: [unknown],
      })
      // It first finishes what was pending.
      up.next(says('Here again.'))
      const after = await newSession(owner.url, scene.agentId())
      const answer = async () => {
        const next = await openSse(`${owner.url}${after}/chat/completions`, say('Hello?'))
        return contentOf((await next.rest()).frames) // nothing while it is still fenced: 503
      }
      await expect.poll(answer).toBe('Here again.')
      expect(shop.requests).toEqual([])
      stream.leave()
    },
  )
}

verifies('contract-10.lease', 'a stateless reply of an owner that wakes after its lease does not act', async () => {
  await using scene = await openToolFaults({ leaseMs: 3000 })
  const { up, shop, database } = scene
  const owner = await scene.start()
  const asked = gate()
  up.next(buysAfter(asked.promise))
  const stream = await openSse(`${deployUrl(owner.url, scene.agentId())}/chat/completions`, say('Buy!'))
  await readUntil(stream, 'One moment. ')
  stop(owner)
  asked.resolve()
  const over = async () => (await database.sql`select 1 from instances where lease_until < clock_timestamp()`).length
  await expect.poll(over).toBe(1)
  wake(owner)
  const { frames } = await stream.rest()
  expect(JSON.parse(frames.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'internal' } })
  expect(shop.requests).toEqual([])
})

verifies(
  ['contract-10.lease', 'contract-10.self-fencing'],
  'a stateless reply that asks for nothing more ends with the lease of its instance',
  async () => {
    await using scene = await openToolFaults({ leaseMs: 3000 })
    const { up, proxy } = scene
    const owner = await scene.start()
    up.next((call) => call.text('Well, '))
    const stream = await openSse(`${deployUrl(owner.url, scene.agentId())}/chat/completions`, say('Talk!'))
    await readUntil(stream, 'Well, ')
    proxy.refuse()
    const { frames } = await stream.rest()
    expect(JSON.parse(frames.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'internal' } })
    await (await up.call(1)).closed
  },
)

verifies(
  'contract-10.unknown-outcome',
  'killed after the effect: the call keeps its nulls, the next turn is told, nothing is bought again',
  async () => {
    await using scene = await openToolFaults({ leaseMs: 3000, answer: () => new Promise<string>(() => {}) })
    const { up, shop } = scene
    const owner = await scene.start('direct')
    const session = await newSession(owner.url, scene.agentId())
    const stream = await openSse(`${owner.url}${session}/chat/completions`, say('Buy!'))
    const bought = await shop.arrived(1)
    await owner.kill9()
    await stream.rest()
    const heir = await scene.start('direct')
    const newest = async () => (await repliesOf(heir.url, session))[0]
    await expect.poll(async () => (await newest())?.status).toBe('error')
    const reply = await newest()
    expect(reply).toMatchObject({ error: { code: 'instance_lost' }, toolCalls: [unknown] })
    expect(bought.request.headers['idempotency-key']).toBe(`${reply?.id}:1`)
    const next = await openSse(`${heir.url}${session}/chat/completions`, say('And?'))
    await next.rest()
    const { messages } = (await up.call(2)).body
    expect(messages).toMatchObject([
      { role: 'user', content: 'Buy!' },
      { role: 'assistant', tool_calls: [{ id: 'the-call', function: { name: 'buy' } }] },
      {
        role: 'tool',
        tool_call_id: 'the-call',
        content: expect.stringMatching(/outcome is unknown.*may have taken effect/),
      },
      { role: 'user', content: 'And?' },
    ])
    expect(shop.requests).toHaveLength(1)
  },
)

for (const how of ['time-out', 'shutdown'] as const) {
  verifies('contract-10.unknown-outcome', `ended by ${how} while a tool runs: the call keeps its nulls`, async () => {
    const env = how === 'time-out' ? { GENERATION_TIMEOUT_S: '1' } : { DRAIN_TIMEOUT_S: '0' }
    await using scene = await openToolFaults({ leaseMs: 6000, answer: () => new Promise<string>(() => {}), env })
    const owner = await scene.start('direct')
    const buy = async () => {
      const session = await newSession(owner.url, scene.agentId())
      const stream = await openSse(`${owner.url}${session}/chat/completions`, say('Buy!'))
      const rest = stream.rest()
      await Promise.race([scene.shop.arrived(1), rest])
      return { session, rest }
    }
    let { session, rest } = await buy()
    // The time may be up before the tool is called: then that reply says nothing of a call.
    while (scene.shop.requests.length === 0) ({ session, rest } = await buy())
    if (how === 'shutdown') {
      owner.child.kill('SIGTERM')
      if (owner.child.exitCode === null) await once(owner.child, 'exit')
    }
    await rest
    const { url } = how === 'shutdown' ? await scene.start('direct') : owner
    expect(await repliesOf(url, session)).toMatchObject([
      { error: { code: how === 'shutdown' ? 'shutdown' : 'provider_timeout' }, toolCalls: [unknown] },
    ])
    expect(scene.shop.requests).toHaveLength(1)
  })
}
