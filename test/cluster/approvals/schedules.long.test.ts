/**
 * Contract section 29 on two instances: whatever dies, no call is made without a decision that covers it, none twice, and
 * exactly one reply follows each question.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { asks, says, startToolServer } from '../../http/tool-scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { newSession, postJson } from '../../support/programs/product.ts'
import { seededRandom } from '../../support/random.ts'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'
import { completions, openScene, type Scene, say } from '../scene.ts'

const SESSIONS = 15
const ROUNDS = samples(1, 20)
const STEPS = 12

let scene: Scene
let tools: Awaited<ReturnType<typeof startToolServer>>
beforeAll(async () => {
  tools = await startToolServer(() => 'paid')
  scene = await openScene({ instances: 2 })
})
afterAll(async () => {
  await scene?.close()
  await tools?.[Symbol.asyncDispose]()
})

const json = { 'content-type': 'application/json' }
const send = (url: string, method: string, body?: object) =>
  fetch(url, { method, headers: json, ...(body && { body: JSON.stringify(body) }) })
const idOf = (session: string) => session.split('/').at(-1) ?? ''

/** A tool whose calls wait, for a minute at most. */
async function giveTool(url: string): Promise<void> {
  const inputSchema = { type: 'object', properties: { n: { type: 'string' } } }
  const tool = { name: 'pay', description: 'Pays.', method: 'POST', url: `${tools.url}/pay`, inputSchema }
  const { id } = Object(await (await send(`${url}/api/v1/http-tools`, 'POST', tool)).json())
  const choice = { httpToolIds: [id], approvals: [{ httpToolId: id }], approvalsExpireAfterS: 60 }
  expect((await send(`${url}/api/v1/agents/${scene.agent}/tools`, 'PUT', choice)).status).toBe(200)
}

let asked = 0
/** The model asks for two payments, and is done when it has their results. */
async function vendor(call: UpstreamCall): Promise<void> {
  const isAnswered = call.body.messages.at(-1)?.role === 'tool'
  const pay = (id: string) => ({ name: 'pay', id, arguments: JSON.stringify({ n: `${asked++}` }) })
  await (isAnswered ? says('Done.') : asks('', pay('c1'), pay('c2')))(call)
}

interface Pending {
  call_id: string
}
async function pendingOf(url: string, session: string): Promise<Pending[]> {
  const response = await fetch(`${url}${session}`).catch(() => null)
  return response?.ok ? Object(await response.json()).pending : []
}

async function step(url: string, session: string, random: () => number): Promise<void> {
  const what = random()
  const some = async (count: number) => {
    const pending = (await pendingOf(url, session)).slice(0, count)
    const decision = random() < 0.7 ? 'approve' : 'reject'
    const remember = random() < 0.15 ? { remember: 'session' } : {}
    const decisions = pending.map(({ call_id }) => ({ call_id, decision, ...remember }))
    if (decisions.length > 0) await postJson(`${url}${session}/actions`, { decisions })
  }
  if (what < 0.25) await postJson(completions(url, session), say('Pay!', false))
  else if (what < 0.6) await some(1)
  else if (what < 0.75) await some(2)
  else if (what < 0.85) await postJson(`${completions(url, session)}/cancel`, {})
  else if (what < 0.95) {
    await scene.cluster.database.sql`
      update waits set expires_at = clock_timestamp() where session_id = ${idOf(session)} and expires_at is not null`
  } else {
    const { decisions } = Object(await (await fetch(`${url}${session}/decisions`)).json())
    for (const { id } of decisions) await send(`${url}${session}/decisions/${id}`, 'DELETE')
  }
}

async function runSchedule(session: string, random: () => number): Promise<void> {
  for (let n = 0; n < STEPS; n++) {
    const url = scene.cluster.urls[Math.floor(random() * 2)] ?? ''
    await Promise.race([step(url, session, random).catch(() => {}), pause(3000)])
    await pause(random() * 250)
  }
}

interface ShownCall {
  arguments: string
  ok: boolean | null
  decision?: string | null
}
interface Shown {
  id: string
  status: string
  finishReason: string | null
  toolCalls?: ShownCall[]
}

async function shown(session: string): Promise<Shown[]> {
  const path = `/api/v1/agents/${scene.agent}/playground/sessions/${idOf(session)}/messages?branches=all`
  return Object(await (await fetch(`${scene.cluster.urls[0]}${path}`)).json()).messages
}

/** Resolves once nothing runs and nothing waits: what waits expires. */
async function settled(session: string): Promise<void> {
  const { sql } = scene.cluster.database
  const left = async () => {
    await sql`update waits set expires_at = clock_timestamp() where session_id = ${idOf(session)} and expires_at is not null`
    const messages = await shown(session)
    const [row] = await sql<{ waiting: boolean; queued: number }[]>`
      select status = 'waiting' as waiting, queued from sessions where id = ${idOf(session)}`
    return [messages.filter(({ status }) => status === 'streaming').length, row?.waiting, row?.queued]
  }
  await expect.poll(left, { timeout: 90_000, interval: 500 }).toEqual([0, false, 0])
}

async function check(session: string): Promise<void> {
  const calls = (await shown(session)).flatMap(({ toolCalls = [], finishReason }) =>
    toolCalls.map((call) => ({ ...call, waited: finishReason === 'tool_calls' })),
  )
  for (const { arguments: text, decision, ok, waited } of calls) {
    const made = tools.requests.filter(({ body }) => body === text)
    expect(made.length, `${text} is made once at most`).toBeLessThan(2)
    if (made.length === 1) expect(decision, `${text} was approved`).toBe('approve')
    if (ok === true) expect(decision === 'approve' ? made.length : 1, `${text} has its own result`).toBe(1)
    // A reply that died before it had ended never offered its calls.
    if (waited) expect(decision, `${text} was decided`).toMatch(/^(approve|reject|expired)$/)
  }
  const rows = await scene.cluster.database.sql<{ n: number }[]>`
    select count(*)::integer as n from messages where session_id = ${idOf(session)} and continues is not null group by continues`
  expect(
    rows.every(({ n }) => n === 1),
    'one reply follows',
  ).toBe(true)
}

verifies(
  'contract-29.schedules',
  'random schedules of decisions, expiries, cancels, messages and kill -9',
  async () => {
    const random = seededRandom('approvals')
    scene.up.always(vendor)
    const [first = ''] = scene.cluster.urls
    await giveTool(first)
    for (let round = 0; round < ROUNDS; round++) {
      const all = await Promise.all(Array.from({ length: SESSIONS }, () => newSession(first, scene.agent)))
      const schedules = Promise.all(all.map((session) => runSchedule(session, random)))
      await pause(500 + random() * 1000)
      const victim = Math.floor(random() * 2)
      await scene.cluster.kill9(victim)
      await pause(random() * 2000)
      await scene.cluster.restart(victim)
      await schedules
      for (const session of all) {
        await settled(session)
        await check(session)
      }
    }
  },
  { timeout: 120_000 + ROUNDS * 90_000 },
)
