/**
 * Contract section 28 under load: publishes, roll-backs, pins and drafts between replies on two instances. Each reply's
 * stored request is its version's, byte for byte.
 */
import { afterAll, beforeAll, expect } from 'vitest'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'
import { openVersionScene, type VersionScene } from './version-scene.ts'

const PUBLISHES = samples(10, 50)
const REPLIES = PUBLISHES * 20
/** Replies at a time, of both instances. */
const AT_ONCE = 10

let scene: VersionScene
beforeAll(async () => {
  scene = await openVersionScene({ settings: { OWNER_LEASE_MS: '60000' } })
  scene.up.always(async (call) => {
    await call.text('ok')
    await call.finish()
  })
})
afterAll(() => scene.close())

type Agent = Awaited<ReturnType<VersionScene['newAgent']>>
type App = VersionScene['here']

interface Asked {
  /** The text of its question. */
  message: string
  session: string
  /** Number or name that the request or the session's pin named; null for none. */
  named: number | 'draft' | null
}

const modelOf = (n: number) => `m-${n}`
const textOf = (n: number) => `You are text ${n}: "é" \\ \u2028 {${n}}.`

/** Asks again while a machine that stands still has broken what was asked for. */
async function patiently<T extends { status: number }>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer.status < 500) return answer
  }
}

/** Publishes a draft, or every fifth time version 1 again, and then leaves a draft that nobody publishes. */
async function publish({ path, publish: again }: Agent, n: number, app: App): Promise<void> {
  const draft = (text: number) =>
    patiently(() =>
      scene.ask('PUT', `${path}?draft=true`, { systemPrompt: textOf(text), model: modelOf(text) }, {}, app),
    )
  if (n % 5 === 4) expect((await patiently(() => again(1))).status).toBe(200)
  else {
    expect((await draft(n)).status).toBe(200)
    // 409: an earlier try has published it after all.
    const { status } = await patiently(() => scene.ask('POST', `${path}/publish`, {}, {}, app))
    expect([200, 409]).toContain(status)
  }
  expect((await draft(1000 + n)).status).toBe(200)
}

/** Sends one message: of every seven one names version 1, one the draft, and one is pinned to version 1. */
async function send({ path }: Agent, session: string, n: number, app: App): Promise<Asked> {
  const sessions = `${path}/deploy/sessions/${session}`
  const named = n % 7 === 0 || n % 7 === 2 ? 1 : n % 7 === 1 ? 'draft' : null
  const isPinned = n % 7 === 2
  const pin = (agent_version: number | null) =>
    patiently(() => scene.ask('PATCH', sessions, { agent_version }, {}, app))
  if (isPinned) expect((await pin(1)).status).toBe(200)
  const body = {
    messages: [{ role: 'user', content: `message ${n}` }],
    ...(named !== null && !isPinned && { agent_version: named }),
  }
  const key = { 'idempotency-key': `the message ${n}` }
  const { status, text } = await patiently(() => scene.ask('POST', `${sessions}/chat/completions`, body, key, app))
  expect([status, text.slice(0, 200)]).toEqual([200, expect.any(String)])
  if (isPinned) expect((await pin(null)).status).toBe(200)
  return { message: `message ${n}`, session, named }
}

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
    const asked: Asked[] = []
    const talk = async (n: number) => {
      const app = n % 2 === 0 ? scene.here : scene.there
      while (left > 0) {
        if (left <= kept) {
          used.resolve()
          await published.promise
          continue
        }
        left -= 1
        const message = left
        const { json } = await patiently(() => scene.ask('POST', `${deploy}/sessions`, {}, {}, app))
        asked.push(await send(agent, json.id, message, app))
      }
    }
    const publishAll = async () => {
      for (let n = 0; n < PUBLISHES; n += 1) {
        await publish(agent, n, n % 2 === 0 ? scene.there : scene.here)
        kept = REPLIES - ((n + 2) * REPLIES) / (PUBLISHES + 1)
        used = Promise.withResolvers()
        published.resolve()
        published = Promise.withResolvers()
        if (n < PUBLISHES - 1) await used.promise
      }
    }
    await Promise.all([publishAll(), ...Array.from({ length: AT_ONCE }, (_, n) => talk(n))])
    await checkAll(agent, asked)
  },
  { timeout: 120_000 + REPLIES * 500 },
)

/** Each reply's request as it was stored is what the model was sent, and what its version says. */
async function checkAll(agent: Agent, asked: readonly Asked[]): Promise<void> {
  const held = new Map<number | string, object>()
  for (let n = 1; n <= PUBLISHES + 1; n += 1) {
    const { agent: fields, prompt } = await agent.version(n)
    held.set(n, { model: fields.model, system: prompt?.content ?? fields.systemPrompt })
  }
  const drafts = Array.from({ length: PUBLISHES }, (_, n) => [n, 1000 + n]).flat()
  const draftOf = new Map(drafts.map((n) => [modelOf(n), { model: modelOf(n), system: textOf(n) }]))
  const sent = new Map(scene.up.calls.map(({ body }) => [body.messages.at(-1).content, body]))
  const rows = await scene.database.sql<{ id: string; session: string; version: string }[]>`
    select m.id, m.session_id as session, m.facts ->> 'agentVersion' as version
      from messages m join sessions s on s.id = m.session_id
     where s.agent_id = ${agent.agentId} and m.role = 'assistant'`
  const replyOf = new Map(rows.map((row) => [row.session, row]))
  expect([rows.length, asked.length]).toEqual([REPLIES, REPLIES])
  const seen = new Set<number | string>()
  for (const { message, session, named } of asked) {
    const { id = '', version = '' } = replyOf.get(session) ?? {}
    const number = version === 'draft' ? 'draft' : Number(version)
    const { requests } = (await scene.ask('GET', `/api/v1/debug/replies/${id}/requests`)).json
    const [{ body }] = requests
    const expected = number === 'draft' ? draftOf.get(body.model) : held.get(number)
    const [system, user] = body.messages
    expect({ model: body.model, system: system.content }).toEqual(expected)
    expect(user.content).toBe(message)
    expect(JSON.stringify(body)).toBe(JSON.stringify(sent.get(message)))
    // Before the first draft, the live version stands for it.
    if (named === 1) expect(number).toBe(1)
    if (named === null) expect(number).not.toBe('draft')
    seen.add(number)
  }
  expect(seen.has('draft')).toBe(true)
  expect(seen.size).toBe(PUBLISHES + 2)
}
