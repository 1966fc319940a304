/** A failover that left the old primary running: nobody is answered from it any more (contract section 26). */
import { afterEach, beforeEach, expect } from 'vitest'
import { socketOf } from '../support/programs/cluster.ts'
import { messagesOf, newSession } from '../support/programs/product.ts'
import { type Replicated, startReplicated } from '../support/programs/standby.ts'
import { contentOf, openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import { completions, exchange, follow, openScene, type Scene, say, talk } from './scene.ts'

let servers: Replicated
let scene: Scene
// Each try has a world of its own.
beforeEach(async () => {
  servers = await startReplicated()
  const { url, sql } = servers.primary
  const database = { url, sql, drop: async () => {} }
  scene = await openScene({ instances: 2, wires: true, database, env: { OWNER_LEASE_MS: '15000' } })
})
afterEach(async () => {
  await scene?.close()
  await servers?.[Symbol.asyncDispose]()
})

const ALL = Number.POSITIVE_INFINITY
const gate = () => Promise.withResolvers<void>()

verifies(
  'contract-26.timeline',
  'after a failover without fencing, an instance that lost one connection reads from the new primary alone',
  async () => {
    const { cluster, up, agent } = scene
    const [owner = '', reader = ''] = cluster.urls
    const session = await newSession(owner, agent)
    const [away, end] = [gate(), gate()]
    up.next(async (call) => {
      for (let n = 0; n < 30; n++) await call.text(`before${n} `)
      await away.promise
      for (let n = 0; n < 30; n++) await call.text(`after${n} `)
      await end.promise
      await call.finish()
    })
    const own = await openSse(completions(owner, session), say('count'))
    const follower = await follow(reader, session)
    for (const stream of [own, follower]) while (!contentOf(stream.frames).endsWith('before29 ')) await stream.next()
    const statements = Array.from({ length: 8 }, () => messagesOf(reader, session)) // its pools have several connections
    await Promise.all(statements)

    const before = Number(follower.frames.at(-1)?.id)

    await servers.promote()
    const leadTo = socketOf(servers.standby.url)
    cluster.wires[0]?.database.lead(leadTo, ALL)
    cluster.wires[1]?.database.lead(leadTo, 1)
    away.resolve()
    while (!contentOf(own.frames).endsWith('after29 ')) expect(await own.next()).not.toBeNull()
    const shown = Number(own.frames.at(-1)?.id)

    // Each of several readers at once is given another connection of the instance.
    const resumed = await Promise.all(
      Array.from({ length: 8 }, () =>
        openSse(`${completions(reader, session)}/stream`, undefined, { 'last-event-id': `${before}` }),
      ),
    )
    for (const stream of resumed) {
      expect(stream.status).toBe(200)
      while (Number(stream.frames.at(-1)?.id ?? 0) < shown) expect(await stream.next()).not.toBeNull()
      expect(Number(stream.frames[0]?.id)).toBe(before + 1)
    }
    end.resolve()
    for (const stream of resumed) await stream.rest()
    const whole = contentOf((await own.rest()).frames)
    for (let n = 0; n < 8; n++) {
      const messages = await messagesOf(reader, session)
      expect(messages.at(-1)).toMatchObject({ status: 'complete', content: whole })
    }
    up.next(talk(3, 1))
    expect(await exchange(reader, session, 'go on')).toEqual([200, '[DONE]'])
    const stored = ({ sql }: { sql: Replicated['primary']['sql'] }) => sql<{ n: number }[]>`
      select count(*)::int as n from messages where session_id = ${session.split('/').at(-1) ?? ''}`
    expect([await stored(servers.primary), await stored(servers.standby)]).toEqual([[{ n: 2 }], [{ n: 4 }]])
  },
)
