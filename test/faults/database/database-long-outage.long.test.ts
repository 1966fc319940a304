/** An outage far longer than the default lease (contract section 4, "Stored before shown"). */
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { countTo, idsOf, openOutage, readUntil } from './database-scene.ts'

const OUTAGE_MS = 20_000

verifies(
  'contract-4.storage-outage',
  '20 s without a database: streams are closed, replies are read later, sessions continue',
  async () => {
    await using scene = await openOutage()
    const { upstream, proxy } = scene
    const away = Promise.withResolvers<void>()
    upstream.always(async (call) => {
      await call.text('one ')
      await away.promise
      await call.text('two ')
      await call.closed
    })
    const sessions = [await scene.newSession(), await scene.newSession(), await scene.newSession()]
    const streams = []
    for (const session of sessions) streams.push(await scene.send(session, 'count'))
    for (const stream of streams) await readUntil(stream, 'one ')
    const outage = delay(OUTAGE_MS)
    proxy.refuse()
    away.resolve()
    for (const stream of streams) expect((await stream.rest()).broken).toBe(true)
    for (const call of upstream.calls) {
      await call.closed
      expect(call.abandoned).toBe(true)
    }
    await outage
    proxy.restore()
    await expect.poll(async () => (await scene.status('/readyz')).status).toBe(200)
    for (const [index, session] of sessions.entries()) {
      const shown = streams[index]?.frames ?? []
      const resumed = await scene.resume(session)
      expect(resumed.frames.slice(0, shown.length)).toEqual(shown)
      expect(idsOf(resumed.frames)).toEqual(countTo(resumed.frames.length))
      expect(JSON.parse(resumed.frames.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'internal' } })
      expect((await scene.messages(session))[1]).toMatchObject({ status: 'error', content: contentOf(resumed.frames) })
    }
    upstream.always((call) => call.text('fresh').then(() => call.finish()))
    for (const session of sessions) {
      let next = await scene.send(session, 'again')
      await expect
        .poll(async () => {
          if (next.status === 503) next = await scene.send(session, 'again') // until its lease is renewed
          return next.status
        })
        .toBe(200)
      await next.rest()
      expect(contentOf(next.frames)).toBe('fresh')
    }
  },
)
