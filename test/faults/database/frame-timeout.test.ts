/** One frame that no attempt can store in time (contract sections 4 and 10): its reply ends, others are unaffected. */
import { expect } from 'vitest'
import { freshDatabase } from '../../support/database.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { contentOf } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { openOutage } from './database-scene.ts'

const leaseMs = 6_000

verifies(
  ['contract-4.storage-outage', 'contract-10.self-fencing'],
  'a frame that statement_timeout ends every time: its stream ends within 2 leases + 1 s, the reply is an error, others go on',
  async () => {
    const { url, sql, drop } = await freshDatabase()
    await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set statement_timeout = 500`)
    const scene = await openOutage({ OWNER_LEASE_MS: `${leaseMs}` }, url)
    try {
      await sql.unsafe(`
        create function poisoned() returns trigger language plpgsql as $$
        begin
          perform pg_sleep(30);
          return new;
        end $$;
        create trigger poisoned before insert on flushes for each row when (new.texts::text like '%poison%')
          execute function poisoned();`)
      const talks = async (call: UpstreamCall) => {
        for (let n = 0; !over; n += 1) {
          await call.text(`${n} `)
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
        await call.finish()
      }
      let over = false
      scene.upstream.next(talks)
      const [other, session] = [await scene.newSession(), await scene.newSession()]
      const talking = await scene.send(other, 'Talk!')
      await talking.next()
      scene.upstream.next(async (call) => {
        await call.text('fine ')
        await new Promise((resolve) => setTimeout(resolve, 100))
        await call.text('poison')
        await call.closed
      })
      const stream = await scene.send(session, 'Go!')
      const begin = performance.now()
      await stream.rest()
      expect(performance.now() - begin).toBeLessThan(2 * leaseMs + 1_000)
      expect(contentOf(stream.frames)).toBe('fine ')
      const newest = async () => (await scene.messages(session)).at(-1)
      await expect.poll(newest).toMatchObject({ status: 'error', finish_reason: 'error', content: 'fine ' })
      over = true
      const { broken, frames } = await talking.rest()
      expect([broken, frames.at(-1)?.data]).toEqual([false, '[DONE]'])
      expect((await scene.messages(other)).at(-1)).toMatchObject({ status: 'complete', content: contentOf(frames) })
    } finally {
      await scene[Symbol.asyncDispose]()
      await drop()
    }
  },
)
