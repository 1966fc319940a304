/** Contract section 28: the cases of an instance that drains. */
import { expect } from 'vitest'
import { call } from '../../http/scene.ts'
import { createAgent, startTestApp } from '../../support/app.ts'
import { freshDatabase } from '../../support/database.ts'
import { startUpstream, type UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'

verifies(
  'contract-28.replay-lost',
  'a case of an instance that drains begins anew on another one, and was not lost',
  async () => {
    const database = await freshDatabase()
    const up = await startUpstream()
    const first = await startTestApp({ database })
    const says = async (asked: UpstreamCall) => {
      await asked.text('Yes.')
      await asked.finish()
    }
    up.always(says)
    const { agentId } = await createAgent(first, { type: 'openai-compatible', baseUrl: up.url })
    const agent = `/api/v1/agents/${agentId}`
    const { json: session } = await call(`${first.url}${agent}/deploy/sessions`, 'POST', {})
    const body = { messages: [{ role: 'user', content: 'Why?' }] }
    await call(`${first.url}${agent}/deploy/sessions/${session.id}/chat/completions`, 'POST', body)

    const begun = Promise.withResolvers<UpstreamCall>()
    up.always(async (asked) => {
      begun.resolve(asked)
      await asked.closed
    })
    const { json: replay } = await call(`${first.url}${agent}/replays`, 'POST', { version: 1, replies: {} })
    const held = await begun.promise
    const second = await startTestApp({ database })
    up.always(says)
    await first.stop()
    expect(held.abandoned).toBe(true)
    const read = async () => (await call(`${second.url}${agent}/replays/${replay.id}`, 'GET')).json
    await expect.poll(async () => (await read()).status).toBe('complete')
    expect((await read()).cases).toMatchObject([{ status: 'complete', new: { content: 'Yes.' }, error: null }])
    const rows = await second.sql<{ losses: number }[]>`select losses from replay_cases`
    expect(rows.map(({ losses }) => losses)).toEqual([0])
    await second.stop()
    await up.close()
    await database.drop()
  },
)
