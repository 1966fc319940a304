/** Contract section 28 under load: publishes between replies on two instances; each reply's stored request is its version's. */
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { openVersionScene, type VersionScene } from './version-scene.ts'

const REPLIES = 1000
const PUBLISHES = 50
/** Replies at a time, of both instances. */
const AT_ONCE = 10

let scene: VersionScene
beforeAll(async () => {
  scene = await openVersionScene()
  scene.up.always(async (call) => {
    await call.text('ok')
    await call.finish()
  })
})
afterAll(() => scene.close())

verifies(
  'contract-28.answers',
  'each stored request is that of the reply’s version, to the byte',
  async () => {
    const agent = await scene.newAgent()
    const deploy = `${agent.path}/deploy`
    let left = REPLIES
    /** Replies that are left for the versions to come; the next publish lowers it. */
    let kept = REPLIES - REPLIES / (PUBLISHES + 1)
    let published = Promise.withResolvers<void>()
    let used = Promise.withResolvers<void>()
    const send = async (n: number) => {
      const app = n % 2 === 0 ? scene.here : scene.there
      const { json } = await scene.ask('POST', `${deploy}/sessions`, {}, {}, app)
      while (left > 0) {
        if (left <= kept) {
          used.resolve()
          await published.promise
          continue
        }
        left -= 1
        const asked = left % 7 === 0 ? { agent_version: 1 } : {}
        const body = { messages: [{ role: 'user', content: `message ${left}` }], ...asked }
        const { status, text } = await scene.ask(
          'POST',
          `${deploy}/sessions/${json.id}/chat/completions`,
          body,
          {},
          app,
        )
        expect([status, text.slice(0, 200)]).toEqual([200, expect.any(String)])
      }
    }
    const publish = async () => {
      for (let n = 0; n < PUBLISHES; n += 1) {
        const app = n % 2 === 0 ? scene.there : scene.here
        await scene.ask('PUT', `${agent.path}?draft=true`, { systemPrompt: `text ${n}`, model: `m-${n}` }, {}, app)
        expect((await scene.ask('POST', `${agent.path}/publish`, {}, {}, app)).status).toBe(200)
        kept = REPLIES - ((n + 2) * REPLIES) / (PUBLISHES + 1)
        used = Promise.withResolvers()
        published.resolve()
        published = Promise.withResolvers()
        if (n < PUBLISHES - 1) await used.promise
      }
    }
    await Promise.all([publish(), ...Array.from({ length: AT_ONCE }, (_, n) => send(n))])
    const held = new Map<number, { model: string; system: string }>()
    for (let n = 1; n <= PUBLISHES + 1; n += 1) {
      const { agent: fields, prompt } = await agent.version(n)
      held.set(n, { model: fields.model, system: prompt?.content ?? fields.systemPrompt })
    }
    const replies = await scene.database.sql<{ id: string; version: number }[]>`
      select m.id, (m.facts ->> 'agentVersion')::integer as version
        from messages m join sessions s on s.id = m.session_id
       where s.agent_id = ${agent.agentId} and m.role = 'assistant'`
    expect(replies).toHaveLength(REPLIES)
    const seen = new Set<number>()
    for (const { id, version } of replies) {
      const { requests } = (await scene.ask('GET', `/api/v1/debug/replies/${id}/requests`)).json
      const [{ body }] = requests
      expect({ version, model: body.model, system: body.messages[0].content }).toEqual({
        version,
        ...held.get(version),
      })
      seen.add(version)
    }
    expect(seen.size).toBe(PUBLISHES + 1)
  },
  { timeout: 300_000 },
)
