/** Contract section 22: lists that live, on two instances that share a database. */
import { afterAll, expect } from 'vitest'
import type { TestApp } from '../../support/app.ts'
import { openSse, type SseStream } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { bearer, DEPLOY_KEY, openFrontDoor, say } from '../users/access/front-door-scene.ts'

const door = await openFrontDoor()
afterAll(door.close)

interface WatchOptions {
  token?: string
  query?: string
  app?: TestApp
  agent?: string
  after?: string
}
const watch = ({ token = DEPLOY_KEY, query = '', app = door.here, agent = door.agentId, after }: WatchOptions = {}) =>
  openSse(`${app.url}${door.deploy(agent)}/sessions/stream${query}`, undefined, {
    ...bearer(token),
    ...(after !== undefined && { 'last-event-id': after }),
  })

/** The next event, read. */
async function next(stream: SseStream) {
  const frame = await stream.next()
  if (frame === null) throw new Error('The stream has ended.')
  return { id: Number(frame.id), event: frame.event, data: JSON.parse(frame.data) }
}
/** Events of this session until one for which it holds. */
async function until(stream: SseStream, sessionId: string, holds: (data: Record<string, unknown>) => boolean) {
  const seen: Record<string, unknown>[] = []
  for (;;) {
    const { data } = await next(stream)
    if (data.id !== sessionId) continue
    seen.push(data)
    if (holds(data)) return seen
  }
}
const newSession = async (body: object = {}, agent = door.agentId): Promise<string> =>
  (await door.asKey('POST', `${door.deploy(agent)}/sessions`, body)).json.id

verifies(
  'contract-22.session-stream',
  'creation, status, title, metadata, head and deletion, on any instance',
  async () => {
    const agent = await door.newAgent()
    const streams = [await watch({ agent }), await watch({ agent, app: door.there })]
    const sessionId = await newSession({ user: 'ann' }, agent)
    const path = `${door.deploy(agent)}/sessions/${sessionId}`
    const call = door.byHand()
    const sent = door.asKey('POST', `${path}/chat/completions`, say('hello'))
    const provider = await call
    for (const stream of streams) await until(stream, sessionId, ({ status }) => status === 'streaming')
    await provider.text('Hi')
    await provider.finish()
    await sent
    for (const stream of streams) await until(stream, sessionId, ({ status }) => status === 'complete')
    await door.asKey('PATCH', path, { title: 'New', metadata: { plan: 'pro' } })
    const record = (await door.asKey('GET', path)).json
    for (const stream of streams) {
      const [changed] = (await until(stream, sessionId, ({ title }) => title === 'New')).slice(-1)
      expect(changed).toEqual({ ...record, status: 'complete', queued: 0 })
    }
    door.says('Again')
    await door.asKey('POST', `${path}/chat/completions`, { regenerate: true })
    const { messages } = (await door.asKey('GET', `${path}/messages?branches=all`)).json
    for (const stream of streams) await until(stream, sessionId, ({ head_id }) => head_id === messages[2].id)
    await door.asKey('POST', `${path}/head`, { message_id: messages[1].id })
    for (const stream of streams) await until(stream, sessionId, ({ head_id }) => head_id === messages[1].id)
    await door.asKey('DELETE', path)
    for (const stream of streams) {
      expect(await until(stream, sessionId, ({ deleted }) => deleted === true)).toEqual([
        { id: sessionId, deleted: true },
      ])
      stream.leave()
    }
  },
)

verifies('contract-22.session-stream', 'it ends when its agent is deleted, after the deletions', async () => {
  const agent = await door.newAgent()
  const sessionId = await newSession({}, agent)
  const stream = await watch({ agent })
  await door.asKey('DELETE', `/api/v1/agents/${agent}`)
  const { frames, broken } = await stream.rest()
  expect(broken).toBe(false)
  expect(frames.map(({ data }) => JSON.parse(data))).toEqual([{ id: sessionId, deleted: true }])
  expect((await watch({ agent })).status).toBe(404)
})

verifies(
  'contract-22.session-stream-ids',
  'behind the id of a list, and behind any id, it goes on without a gap',
  async () => {
    const agent = await door.newAgent()
    const sessions = `${door.deploy(agent)}/sessions`
    const [first, second] = [await newSession({}, agent), await newSession({}, agent)]
    const list = await door.asKey('GET', sessions)
    const after = list.headers.get('x-last-event-id') ?? ''
    expect(after).toMatch(/^\d+$/)
    await door.asKey('PATCH', `${sessions}/${first}`, { title: 'One' })
    await door.asKey('DELETE', `${sessions}/${second}`)
    const third = await newSession({}, agent)
    const wanted = [
      [first, 'One'],
      [second, undefined],
      [third, null],
    ]
    for (const options of [{ after }, { query: `?last_event_id=${after}` }, { after, query: '?last_event_id=0' }]) {
      const stream = await watch({ agent, app: door.there, ...options })
      const events = [await next(stream), await next(stream), await next(stream)]
      expect(events.map(({ data }) => [data.id, data.title])).toEqual(wanted)
      const ids = events.map(({ id }) => id)
      expect(ids).toEqual(ids.toSorted((one, other) => one - other))
      stream.leave()
      const later = await watch({ agent, after: `${ids[1]}` })
      expect((await next(later)).data.id).toBe(third)
      later.leave()
    }
    const fresh = await watch({ agent })
    const newest = fresh.headers.get('x-last-event-id')
    expect(newest).toMatch(/^\d+$/)
    const ahead = await watch({ agent, after: '999999999' }) // of a database that was restored
    expect(ahead.headers.get('x-last-event-id')).toBe(newest)
    const fourth = await newSession({}, agent)
    for (const stream of [fresh, ahead]) {
      expect((await next(stream)).data.id).toBe(fourth)
      stream.leave()
    }
    for (const bad of ['x', '-1', '1.5']) expect((await watch({ agent, after: bad })).status).toBe(400)
  },
)

verifies(
  'contract-22.session-stream-ids',
  'who comes back between two readings gets what has changed since, and holds up nobody',
  async () => {
    const agent = await door.newAgent()
    const stream = await watch({ agent })
    const sessionId = await newSession({}, agent)
    // An event comes right after a reading: what follows happens before the next one.
    const { id } = await next(stream)
    await door.asKey('PATCH', `${door.deploy(agent)}/sessions/${sessionId}`, { title: 'Between' })
    const again = await watch({ agent, after: `${id}` })
    for (const one of [again, stream]) {
      expect((await next(one)).data).toMatchObject({ id: sessionId, title: 'Between' })
      one.leave()
    }
  },
)

verifies('contract-22.session-stream-ids', 'what commits late is not passed over', async () => {
  const agent = await door.newAgent()
  const [slow, quick] = [await newSession({}, agent), await newSession({}, agent)]
  const stream = await watch({ agent })
  const held = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  // It takes its number first, and commits last.
  const transaction = door.sql.begin(async (sql) => {
    await sql`update sessions set title = 'Slow' where id = ${slow}`
    written.resolve()
    await held.promise
  })
  await written.promise
  await door.sql`update sessions set title = 'Quick' where id = ${quick}`
  // Nothing can be told from the row that is written: another watcher would get its id too early.
  const list = await door.asKey('GET', `${door.deploy(agent)}/sessions`)
  const [{ change = '' } = {}] = await door.sql<
    { change: string }[]
  >`select change::text from sessions where id = ${quick}`
  expect(Number(list.headers.get('x-last-event-id'))).toBeLessThan(Number(change) - 1)
  held.resolve()
  await transaction
  expect([(await next(stream)).data.title, (await next(stream)).data.title]).toEqual(['Slow', 'Quick'])
  stream.leave()
})

verifies('contract-22.session-stream-access', 'keys follow all or a user, secrets their own user', async () => {
  const ann = await door.secret('ann')
  const streams = {
    all: await watch(),
    bens: await watch({ query: '?user=ben' }),
    anns: await watch({ token: ann }),
    inQuery: await openSse(`${door.there.url}${door.deploy()}/sessions/stream?access_token=${ann}`),
    others: await watch({ token: ann, query: '?user=ben' }),
  }
  const made = [await newSession({ user: 'ann' }), await newSession({ user: 'ben' }), await newSession()]
  const marker = await newSession({ user: 'ann', title: 'End' })
  await door.asKey('DELETE', `${door.deploy()}/sessions/${made[1]}`)
  await door.asKey('DELETE', `${door.deploy()}/sessions/${made[0]}`)
  await door.asKey('PATCH', `${door.deploy()}/sessions/${marker}`, { title: 'Past' })
  const idsUntil = async (stream: SseStream, last: string) => {
    const seen = new Set<string>()
    for (;;) {
      const { data } = await next(stream)
      seen.add(data.id)
      if (data.id === last && (data.title === 'Past' || data.deleted)) return [...seen]
    }
  }
  expect((await idsUntil(streams.all, marker)).toSorted()).toEqual([...made, marker].toSorted())
  expect(await idsUntil(streams.bens, made[1] ?? '')).toEqual([made[1]])
  for (const stream of [streams.anns, streams.inQuery]) {
    expect((await idsUntil(stream, marker)).toSorted()).toEqual([made[0] ?? '', marker].toSorted())
  }
  expect(streams.others.frames).toEqual([])
  for (const stream of Object.values(streams)) stream.leave()
  const one = await door.secret('ann', { session_id: marker })
  expect((await watch({ token: one })).status).toBe(403)
  expect((await watch({ token: ann, agent: await door.newAgent() })).status).toBe(401)
  expect((await watch({ token: 'wrong' })).status).toBe(401)
})

verifies('contract-25.unknown-parameters', 'a misspelt filter does not follow everybody', async () => {
  const misspelt = await watch({ query: '?users=ann' })
  misspelt.leave()
  expect(misspelt.status).toBe(400)
  const known = await watch({ query: '?user=ann&_=1' })
  known.leave()
  expect(known.status).toBe(200)
})

verifies('contract-22.session-stream-access', "it ends with the secret, or the user's revocation", async () => {
  const brief = await door.secret('eve', { expires_after: { anchor: 'created_at', seconds: 10 } })
  const stream = await watch({ token: brief })
  const revoked = await watch({ token: await door.secret('joe') })
  await door.asKey('POST', `${door.deploy()}/users/joe/revoke`)
  expect((await revoked.rest()).broken).toBe(true)
  expect((await stream.rest()).broken).toBe(false)
})
