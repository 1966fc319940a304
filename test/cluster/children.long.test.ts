/** Agents that ask agents, on two instances of which one dies (contract section 30). */
import { expect } from 'vitest'
import { asks, says } from '../http/tool-scene.ts'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { newSession, type Product } from '../support/programs/product.ts'
import { verifies } from '../verifies.ts'
import { ask, type OnLoss, openPair, type Pair } from './handover/handover-scene.ts'
import { newest } from './scene.ts'

/** The pair's agent asks a new agent, whose model is `billing`. Resolves to that agent's id. */
async function addBilling({ first, agentId }: Pair, onLoss: OnLoss): Promise<string> {
  const { client } = first
  const desk = await client.GET('/api/v1/agents/{id}', { params: { path: { id: agentId() } } })
  const providerId = desk.data?.providerId ?? ''
  const body = { name: 'billing', model: 'billing', providerId, onLoss }
  const billing = await client.POST('/api/v1/agents', { body })
  const id = billing.data?.id ?? ''
  const params = { path: { agent_id: agentId() } }
  const { error } = await client.PUT('/api/v1/agents/{agent_id}/tools', {
    params,
    body: { agentTools: [{ agentId: id }] },
  })
  expect(error).toBeUndefined()
  return id
}

const asking = { name: 'billing', arguments: '{"message":"What does Ann owe?"}' }

/** The desk asks billing on the first instance, which waits at `gate`. */
async function askedAt(pair: Pair, gate: Promise<void>) {
  const told = Promise.withResolvers<string>()
  const runs = Promise.withResolvers<void>()
  pair.up.always(async (call: UpstreamCall) => {
    const last = call.body.messages.at(-1)
    if (call.body.model === 'billing') {
      runs.resolve()
      await call.text('12 ')
      await Promise.race([gate, call.closed])
      if (call.abandoned) return
      await call.text('euros')
      await call.finish()
    } else if (last.role === 'tool') {
      told.resolve(last.content)
      await says('Done.')(call)
    } else await asks('', asking)(call)
  })
  const session = await newSession(pair.first.url, pair.agentId())
  const stream = await ask(pair, session)
  await runs.promise
  return { session, stream, told: told.promise }
}

const childrenIn = (pair: Pair, session: string) =>
  pair.database.sql<{ id: string; status: string }[]>`
    select id, status from sessions where parent ->> 'session_id' = ${session.split('/').at(-1) ?? ''}`

const lastOf = (at: Product, session: string) => newest(at.url, session)

/** Of a parent and a child on the first instance, which is killed. */
const losses: readonly [string, () => Promise<void>][] = [
  [
    'a parent that goes on elsewhere joins its child, which goes on too',
    async () => {
      await using pair = await openPair('continue')
      await addBilling(pair, 'continue')
      const gate = Promise.withResolvers<void>()
      const { session, told } = await askedAt(pair, gate.promise)
      await pair.first.kill9()
      gate.resolve()
      expect(await told).toMatch(/^12 .*euros$/)
      await expect.poll(() => lastOf(pair.second, session)).toMatchObject({ content: 'Done.' })
      expect(await childrenIn(pair, session)).toMatchObject([{ status: 'complete' }])
    },
  ],
  [
    'a child that ends with its instance is told as lost',
    async () => {
      await using pair = await openPair('continue')
      await addBilling(pair, 'error')
      const { told } = await askedAt(pair, new Promise(() => {}))
      await pair.first.kill9()
      expect(await told).toMatch(/failed: instance_lost: /)
    },
  ],
  [
    'a parent that ends with its instance ends its child',
    async () => {
      await using pair = await openPair('error')
      await addBilling(pair, 'continue')
      const { session } = await askedAt(pair, new Promise(() => {}))
      await pair.first.kill9()
      await expect.poll(async () => (await childrenIn(pair, session))[0]?.status).toBe('cancelled')
      expect(await lastOf(pair.second, session)).toMatchObject({ status: 'error' })
    },
  ],
]
for (const [name, loses] of losses) {
  const joins = name.includes('joins its child')
  verifies(joins ? ['contract-30.child-once', 'contract-30.child-loss'] : 'contract-30.child-loss', name, loses)
}

verifies(
  'contract-30.child-drain',
  'a draining instance hands a parent over at once, its child answers there',
  async () => {
    await using pair = await openPair('error')
    await addBilling(pair, 'error')
    const gate = Promise.withResolvers<void>()
    const { session, told } = await askedAt(pair, gate.promise)
    const ownerOf = async () => {
      const [row] = await pair.database.sql<{ owner: string }[]>`
      select m.instance_id as owner from messages m
       where m.session_id::text = ${session.split('/').at(-1) ?? ''} and m.status = 'streaming'`
      return row?.owner
    }
    const before = await ownerOf()
    const stopped = pair.first.stop()
    await expect.poll(ownerOf).toSatisfy((owner) => owner !== undefined && owner !== before)
    expect(await childrenIn(pair, session)).toMatchObject([{ status: 'streaming' }])
    gate.resolve()
    expect(await told).toBe('12 euros')
    await stopped
    await expect.poll(() => newest(pair.second.url, session)).toMatchObject({ content: 'Done.', status: 'complete' })
  },
)
