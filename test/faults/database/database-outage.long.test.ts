/** PostgreSQL fails while replies run, and recovers (contract section 4, "Stored before shown"). */
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { startEmbedded } from '../../../src/persistence/postgres/embedded/embedded.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { contentOf } from '../../support/streams/sse.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'
import { countTo, idsOf, openOutage, readUntil } from './database-scene.ts'

const longer = { timeout: WAIT_MS }
const gate = () => Promise.withResolvers<void>()

verifies(
  'contract-4.storage-outage',
  'an outage shorter than the lease: nothing is lost, ids have no gap',
  async () => {
    await using scene = await openOutage({ OWNER_LEASE_MS: '30000' })
    const { upstream, proxy } = scene
    const [away, back] = [gate(), gate()]
    upstream.next(async (call) => {
      await call.text('one ')
      await away.promise
      await call.text('two ')
      await call.text('three ')
      await back.promise
      await call.text('four')
      await call.finish()
    })
    const session = await scene.newSession()
    const stream = await scene.send(session, 'count')
    await readUntil(stream, 'one ')
    proxy.refuse()
    away.resolve()
    const shown = stream.frames.length
    const rest = stream.rest()

    await expect.poll(async () => (await scene.status('/readyz')).status, longer).toBe(503)
    expect((await scene.status('/livez')).status).toBe(200)
    const refused = { status: 503, body: { error: expect.any(String) } }
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'x' }] })
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    expect(await scene.status(`${session}/chat/completions`, post)).toEqual(refused)
    expect(await scene.status(`${session}/messages`)).toEqual(refused)
    expect(await scene.status(`${session}/chat/completions/stream`)).toEqual(refused)
    expect(await scene.status(`${session}/chat/completions/cancel`, { method: 'POST' })).toEqual(refused)
    expect(await scene.status(scene.sessions)).toEqual(refused)
    expect(await scene.status('/api/v1/agents')).toEqual({ status: 503, body: { message: expect.any(String) } })
    await delay(2000) // the outage itself, with what the requests above took: the admission tries for a second
    // While nothing can be stored, nothing is shown.
    expect(stream.frames).toHaveLength(shown)

    proxy.restore()
    back.resolve()
    expect((await rest).broken).toBe(false)
    expect(contentOf(stream.frames)).toBe('one two three four')
    expect(stream.frames.at(-1)?.data).toBe('[DONE]')
    expect(idsOf(stream.frames)).toEqual(countTo(stream.frames.length))
    expect(await scene.messages(session)).toMatchObject([
      { content: 'count' },
      { content: 'one two three four', status: 'complete' },
    ])
    expect((await scene.resume(session)).frames).toEqual(stream.frames)
    await expect.poll(async () => (await scene.status('/readyz')).status, longer).toBe(200)
  },
)

for (const fault of ['refuse', 'hangUp', 'swallow'] as const) {
  verifies(
    'contract-4.storage-outage',
    `an outage longer than the lease (${fault}): streams close, nothing shown is lost`,
    async () => {
      await using scene = await openOutage({ OWNER_LEASE_MS: '3000' })
      const { upstream, proxy } = scene
      const away = gate()
      upstream.next(async (call) => {
        await call.text('one ')
        await away.promise
        await call.text('two ')
        await call.closed
      })
      const session = await scene.newSession()
      const stream = await scene.send(session, 'count')
      await readUntil(stream, 'one ')
      proxy[fault]()
      away.resolve()
      const { broken, frames } = await stream.rest()
      expect(broken).toBe(true)
      expect(contentOf(frames)).toBe('one ')
      const call = await upstream.call(1)
      await call.closed
      expect(call.abandoned).toBe(true)
      expect((await scene.status('/readyz')).status).toBe(503)
      const asked = await scene.status(`${session}/messages`)
      expect(asked).toEqual({ status: 503, body: { error: expect.any(String) } })
      await delay(4000) // the outage lasts for more than two leases
      proxy.restore()

      await expect.poll(async () => (await scene.status(`${session}/messages`)).status, longer).toBe(200)
      const resumed = await scene.resume(session)
      expect(resumed.frames.slice(0, frames.length)).toEqual(frames)
      expect(idsOf(resumed.frames)).toEqual(countTo(resumed.frames.length))
      expect(JSON.parse(resumed.frames.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'internal' } })
      const [, reply] = await scene.messages(session)
      expect(reply).toMatchObject({ status: 'error', finish_reason: 'error' })
      expect(reply?.content).toBe(contentOf(resumed.frames))
      expect(reply?.content.startsWith('one ')).toBe(true)

      upstream.next((next) => next.text('fresh').then(() => next.finish()))
      await expect.poll(async () => (await scene.status('/readyz')).status, longer).toBe(200)
      // Connections that were swallowed stay dead: one after the other they are found out.
      let after = await scene.send(session, 'again')
      const again = async () => {
        if (after.status === 503) after = await scene.send(session, 'again')
        return after.status
      }
      await expect.poll(again, longer).toBe(200)
      await after.rest()
      expect(contentOf(after.frames)).toBe('fresh')
      expect(Number(after.frames[0]?.id)).toBe(resumed.frames.length + 1)
    },
  )
}

verifies('contract-4.storage-outage', 'the server ends every connection in the middle of replies', async () => {
  await using scene = await openOutage()
  const words = 60
  const replies = 5
  let hold = gate()
  const reached: PromiseWithResolvers<void>[] = []
  scene.upstream.always(async (call) => {
    for (let word = 0; word < words; word++) {
      if (word % 20 === 10) {
        reached[call.number - 1]?.resolve()
        await hold.promise
      }
      await call.text(`${word} `)
    }
    await call.finish()
  })
  const streams = []
  for (let i = 0; i < replies; i++) {
    reached.push(gate())
    streams.push(await scene.send(await scene.newSession(), 'count'))
  }
  const rests = streams.map((stream) => stream.rest())
  for (let round = 0; round < words / 20; round++) {
    await Promise.all(reached.map(({ promise }) => promise))
    for (let i = 0; i < replies; i++) reached[i] = gate()
    const release = hold
    hold = gate()
    release.resolve()
    await scene.app.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'greenroom%'`
  }
  hold.resolve()
  const expected = Array.from({ length: words }, (_, word) => `${word} `).join('')
  for (const rest of rests) {
    const { broken, frames } = await rest
    expect(broken).toBe(false)
    expect(contentOf(frames)).toBe(expected)
    expect(frames.at(-1)?.data).toBe('[DONE]')
    expect(idsOf(frames)).toEqual(countTo(frames.length))
  }
})

verifies(
  ['contract-4.storage-outage', 'contract-4.stored-before-shown'],
  'PostgreSQL is restarted in the middle of a reply',
  async () => {
    const dataDir = await temporaryFolder('restart')
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const first = await startEmbedded({ dataDir, log })
    let server = first
    try {
      // On a busy machine a restart takes longer than the default lease, which is another test's rule.
      const scene = await openOutage({ OWNER_LEASE_MS: '30000' }, first.url)
      const back = gate()
      scene.upstream.next(async (call) => {
        await call.text('before ')
        await back.promise
        await call.text('after')
        await call.finish()
      })
      const session = await scene.newSession()
      const stream = await scene.send(session, 'hold on')
      await readUntil(stream, 'before ')
      await server.stop()
      back.resolve()
      server = await startEmbedded({ dataDir, log })
      scene.proxy.retarget(server.url)
      expect((await stream.rest()).broken).toBe(false)
      expect(contentOf(stream.frames)).toBe('before after')
      expect(idsOf(stream.frames)).toEqual(countTo(stream.frames.length))
      expect((await scene.messages(session))[1]).toMatchObject({ content: 'before after', status: 'complete' })
      await scene[Symbol.asyncDispose]()
    } finally {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    }
  },
)

verifies('contract-4.idempotency', 'an admission whose response was lost is stored once, and answered', async () => {
  await using scene = await openOutage()
  scene.upstream.always((call) => call.text('once').then(() => call.finish()))
  for (let round = 0; round < 5; round++) {
    const session = await scene.newSession()
    const text = `the answer to this admission is lost, round ${round}`
    const sprung = scene.proxy.cutAnswerTo(text)
    const stream = await scene.send(session, text)
    await sprung
    await stream.rest()
    expect(stream.status).toBe(200)
    expect(contentOf(stream.frames)).toBe('once')
    expect(idsOf(stream.frames)).toEqual(countTo(stream.frames.length))
    expect(await scene.messages(session)).toMatchObject([{ content: text }, { content: 'once', status: 'complete' }])
    expect(scene.upstream.calls).toHaveLength(round + 1)
  }
})
