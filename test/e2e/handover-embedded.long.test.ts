/** On an embedded database the next start takes over what the one before has left (contract section 21). */
import { expect } from 'vitest'
import { asks, says, startToolServer } from '../http/tool-scene.ts'
import { startUpstream } from '../support/network/upstream.ts'
import {
  addAgent,
  dataFolder,
  messagesOf,
  newSession,
  type Product,
  startProduct,
} from '../support/programs/product.ts'
import { contentOf, openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'

const say = (content: string) => ({ messages: [{ role: 'user', content }], stream: true })

async function goesOn({ client }: Product, agentId: string, shop: string): Promise<void> {
  const tool = await client.POST('/api/v1/http-tools', {
    body: { name: 'buy', description: 'Buys.', method: 'POST', url: shop },
  })
  const chosen = await client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { httpToolIds: [tool.data?.id ?? ''] },
  })
  const set = await client.PUT('/api/v1/agents/{id}', {
    params: { path: { id: agentId } },
    body: { onLoss: 'continue' },
  })
  if (tool.error || chosen.error || set.error) throw new Error(JSON.stringify([tool.error, chosen.error, set.error]))
}

for (const { end, reason } of [
  { end: 'kill -9', reason: 'instance_lost' },
  { end: 'SIGTERM', reason: 'shutdown' },
] as const) {
  verifies(
    ['contract-21.continued', 'contract-1.embedded'],
    `the start after a ${end} goes on behind a text, and behind a whole turn of calls, which are not made again`,
    async () => {
      await using up = await startUpstream()
      await using shop = await startToolServer(() => 'sold')
      await using folder = await dataFolder()
      const options = { dataDir: folder.path, direct: true, env: { DRAIN_TIMEOUT_S: '1' } }
      const sessions: string[] = []
      {
        await using before = await startProduct(options)
        const agent = await addAgent(before, up.url)
        await goesOn(before, agent, shop.url)
        for (let n = 0; n < 2; n++) sessions.push(await newSession(before.url, agent))
        const [within = '', between = ''] = sessions.map((session) => `${before.url}${session}/chat/completions`)
        up.next(async (call) => {
          await call.text('So far')
          await call.closed
        })
        const stream = await openSse(within, say('Tell!'))
        for (let n = 0; n < 2; n++) await stream.next()
        up.next(asks('One moment. ', { name: 'buy', arguments: '{}', id: 'the-call' }))
        up.next(({ closed }) => closed)
        await openSse(between, say('Buy!'))
        await up.call(3)
        if (end === 'kill -9') await before.kill9()
        else expect((await before.stop('SIGTERM')).code).toBe(0)
      }
      up.always((call) => says(call.body.messages[0].content === 'Buy!' ? 'Bought.' : ', and on.')(call))
      await using after = await startProduct(options)
      const told = async (session: string) => {
        const { frames } = await (await openSse(`${after.url}${session}/chat/completions/stream`)).rest()
        const message = (await messagesOf(after.url, session)).at(-1)
        return [contentOf(frames), frames.at(-1)?.data, message?.content, Object(message).continuations]
      }
      const [within = '', between = ''] = sessions
      const seam = (offset: number) => [expect.objectContaining({ reason, offset })]
      expect(await told(within)).toEqual(['So far, and on.', '[DONE]', 'So far, and on.', seam(6)])
      expect(await told(between)).toEqual(['One moment. Bought.', '[DONE]', 'One moment. Bought.', seam(12)])
      expect(shop.requests).toHaveLength(1)
      expect(up.calls).toHaveLength(5)
    },
  )
}
