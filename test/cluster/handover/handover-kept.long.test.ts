/** What a reply that goes on elsewhere keeps of its beginning (contract sections 20 to 22). */
import { expect } from 'vitest'
import { says } from '../../http/tool-scene.ts'
import { newSession } from '../../support/programs/product.ts'
import { contentOf, openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { completions, follow, newest, say } from '../scene.ts'
import { ask, openPair, type Pair, setOnLoss } from './handover-scene.ts'

/** The next reply says so much, and stands still. */
const saysSoFar = ({ up }: Pair) =>
  up.next(async (call) => {
    await call.text('So far')
    await call.closed
  })

/** The session's metadata are these from now on. */
async function tell({ second }: Pair, session: string, metadata: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ metadata })
  expect((await fetch(`${second.url}${session}`, { method: 'PATCH', headers, body })).status).toBe(200)
}

verifies(
  ['contract-20.admission', 'contract-21.continued'],
  'the prompt of a reply whose instance dies has the values that its admission told',
  async () => {
    await using pair = await openPair('continue')
    const { client } = pair.first
    const content = 'The plan is {{session.metadata.plan}}, since {{now.time}}.'
    const prompt = await client.POST('/api/v1/prompts', { body: { name: 'Plan', content } })
    const params = { path: { id: pair.agentId() } }
    await client.PUT('/api/v1/agents/{id}', { params, body: { promptId: prompt.data?.id ?? null } })
    const session = await newSession(pair.first.url, pair.agentId())
    await tell(pair, session, { plan: 'gold' })
    saysSoFar(pair)
    const stream = await ask(pair, session)
    for (let n = 0; n < 2; n++) await stream.next()
    await tell(pair, session, { plan: 'free' })
    pair.up.next(says(', and on.'))
    await pair.first.kill9()
    const { frames } = await (await follow(pair.second.url, session)).rest()
    expect(contentOf(frames)).toBe('So far, and on.')
    const [before, after] = pair.up.calls.map(({ body }) => body.messages[0])
    expect(before.content).toMatch(/^The plan is gold, since the time at the end/)
    expect(after).toEqual(before)
  },
)

verifies(
  ['contract-21.continued', 'contract-22.enqueue'],
  'a queued message goes on under the `onLoss` of its begin, not of its sending',
  async () => {
    await using pair = await openPair('error')
    const session = await newSession(pair.first.url, pair.agentId())
    const gate = Promise.withResolvers<void>()
    pair.up.next(async (call) => {
      await call.text('First.')
      await gate.promise
      await call.finish('stop')
    })
    const stream = await ask(pair, session)
    for (let n = 0; n < 2; n++) await stream.next()
    const queued = await openSse(completions(pair.first.url, session), { ...say('And?'), on_busy: 'enqueue' })
    await setOnLoss(pair.first, pair.agentId(), 'continue')
    saysSoFar(pair)
    gate.resolve()
    await stream.rest()
    for (let n = 0; n < 2; n++) await queued.next()
    pair.up.next(says(', and on.'))
    await pair.first.kill9()
    const { frames } = await (await follow(pair.second.url, session)).rest()
    expect(contentOf(frames)).toBe('So far, and on.')
    expect(await newest(pair.second.url, session)).toMatchObject({
      status: 'complete',
      continuations: [{ reason: 'instance_lost' }],
    })
  },
)
