/** Contract section 35: the playground's chat takes `Idempotency-Key` as section 4 says. */
import { afterAll, expect } from 'vitest'
import { openSse, type SseStream } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { openScene } from '../../scene.ts'

const scene = await openScene()
afterAll(scene.close)
scene.says(['Fine.'])

const play = `${scene.agent}/playground`
const create = async (): Promise<string> => (await scene.call('POST', `${play}/sessions`, {})).json.id
const read = async (id: string) => (await scene.call('GET', `${play}/sessions/${id}/messages`)).json.messages
const numbered = (stream: SseStream) => stream.frames.filter(({ event }) => event === undefined)

verifies(
  'contract-35.playground-key',
  'the same key and body join the first reply, with a session or without',
  async () => {
    const keyed = (body: object, key: string) =>
      openSse(`${scene.app.url}${play}/chat`, body, { 'idempotency-key': key })
    for (const sessionId of [undefined, await create()]) {
      const body = { message: 'Once', ...(sessionId && { sessionId }) }
      const key = `key of ${sessionId}`
      const [first, again] = [await keyed(body, key), await keyed(body, key)]
      const id = `${first.headers.get('x-session-id')}`
      expect(again.headers.get('x-session-id')).toBe(id)
      await first.rest()
      await again.rest()
      expect(numbered(again).map(({ data }) => data)).toEqual(numbered(first).map(({ data }) => data))
      expect(await read(id)).toHaveLength(2)
      expect((await keyed({ ...body, message: 'Another' }, key)).status).toBe(400)
    }
    expect((await keyed({ message: 'x' }, 'k'.repeat(256))).status).toBe(400)
  },
)
