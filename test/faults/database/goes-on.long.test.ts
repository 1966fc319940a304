/** A reply of an agent with `onLoss: continue` outlives an outage that is longer than a lease (contract section 21). */
import { expect } from 'vitest'
import { requestCancel } from '../../../src/persistence/replies/settling/intents.ts'
import { says } from '../../http/tool-scene.ts'
import { messagesOf, newSession } from '../../support/programs/product.ts'
import { contentOf, openSse } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { openToolFaults } from '../tool-faults.ts'

const say = { messages: [{ role: 'user', content: 'Tell!' }], stream: true }

for (const onLoss of ['continue', 'error'] as const) {
  verifies(
    onLoss === 'continue' ? 'contract-21.database' : 'contract-21.default',
    `with \`${onLoss}\`, what could not be stored for a lease ${onLoss === 'continue' ? 'goes on' : 'ends'} when the database is back`,
    async () => {
      await using faults = await openToolFaults({ leaseMs: 3000 })
      const { url, client } = await faults.start('proxy')
      await client.PUT('/api/v1/agents/{id}', { params: { path: { id: faults.agentId() } }, body: { onLoss } })
      const session = await newSession(url, faults.agentId())
      faults.up.next(async (call) => {
        await call.text('So far')
        await call.closed
      })
      faults.up.next(says(', and on.'))
      const completions = `${url}${session}/chat/completions`
      const stream = await openSse(completions, say)
      for (let n = 0; n < 2; n++) await stream.next()
      faults.proxy.refuse()
      expect((await stream.rest()).broken).toBe(true)
      faults.proxy.restore()
      await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200)
      const { frames } = await (await openSse(`${completions}/stream`)).rest()
      const newest = (await messagesOf(url, session)).at(-1)
      if (onLoss === 'error') {
        expect(JSON.parse(frames.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'internal' } })
        expect(newest).toMatchObject({ status: 'error', content: 'So far' })
        return
      }
      expect([contentOf(frames), frames.at(-1)?.data]).toEqual(['So far, and on.', '[DONE]'])
      expect(newest).toMatchObject({ status: 'complete', continuations: [{ reason: 'database', offset: 6 }] })
    },
  )
}

verifies(
  'contract-21.cancel',
  'what is cancelled while it waits for the database, and is given away then, is not gone on with',
  async () => {
    await using faults = await openToolFaults({ leaseMs: 3000 })
    const { url, client } = await faults.start('proxy')
    const { sql } = faults.database
    await client.PUT('/api/v1/agents/{id}', {
      params: { path: { id: faults.agentId() } },
      body: { onLoss: 'continue' },
    })
    const session = await newSession(url, faults.agentId())
    const away = Promise.withResolvers<void>()
    faults.up.next(async (call) => {
      await call.text('So far')
      await away.promise
      await call.text(', not stored')
      await call.closed
    })
    faults.up.always(says(', and on.'))
    const completions = `${url}${session}/chat/completions`
    const stream = await openSse(completions, say)
    for (let n = 0; n < 2; n++) await stream.next()
    faults.proxy.refuse()
    away.resolve()
    expect((await stream.rest()).broken).toBe(true)
    // Asked for by another way to the database.
    expect(await requestCancel(sql, session.split('/').at(-1) ?? '', {})).not.toBeNull()
    await sql.begin(async (tx) => {
      // It gives the reply away only once it has read the cancel, and is about to remove it.
      await tx`lock table handovers in exclusive mode`
      await tx`lock table intents in share mode`
      faults.proxy.restore()
      const removing = () => tx`select 1 from pg_locks where relation = 'intents'::regclass and not granted`
      await expect.poll(removing).not.toHaveLength(0)
    })
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200)
    const { frames } = await (await openSse(`${completions}/stream`)).rest()
    expect([contentOf(frames), frames.at(-1)?.data]).toEqual(['So far, not stored', '[DONE]'])
    expect((await messagesOf(url, session)).at(-1)).toMatchObject({ status: 'complete', finish_reason: 'cancelled' })
    expect(faults.up.calls).toHaveLength(1)
  },
)
