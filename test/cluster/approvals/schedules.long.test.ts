/**
 * Contract section 29 on two instances: whatever dies, no call is made without a decision that covers it, none twice, and
 * exactly one reply follows each question.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { asks, says, startToolServer } from '../../http/tool-scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { newSession, postJson } from '../../support/programs/product.ts'
import { seededRandom } from '../../support/random.ts'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'
import { completions, mend, openScene, type Scene, say } from '../scene.ts'

const SESSIONS = 15
const ROUNDS = samples(1, 20)
const STEPS = 16

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
afterEach(() => mend(scene))

const json = { 'content-type': 'application/json' }
const send = (url: string, method: string, body?: object) =>
  fetch(url, { method, headers: json, ...(body && { body: JSON.stringify(body) }) })
const idOf = (session: string) => session.split('/').at(-1) ?? ''

/** A tool whose calls wait, for a minute at most. */
async function giveTool(url: string): Promise<void> {
  const inputSchema = { type: 'object', properties: { n: { type: 'string' }, kind: { type: 'string' } } }
  const tool = { name: 'pay', description: 'Pays.', method: 'POST', url: `${tools.url}/pay`, inputSchema }
  const { id } = Object(await (await send(`${url}/api/v1/http-tools`, 'POST', tool)).json())
  const choice = { httpToolIds: [id], approvals: [{ httpToolId: id }], approvalsExpireAfterS: 60 }
  expect((await send(`${url}/api/v1/agents/${scene.agent}/tools`, 'PUT', choice)).status).toBe(200)
}

let asked = 0
/** By the arguments: when the model began to ask for the call. */
const askedAt = new Map<string, number>()
/** By the id of the decision: when its DELETE was answered. */
const revokedAt = new Map<string, number>()
/** The model asks for two payments, one of each kind, and is done when it has their results. */
async function vendor(call: UpstreamCall): Promise<void> {
  const isAnswered = call.body.messages.at(-1)?.role === 'tool'
  const pay = (kind: string) => {
    const n = `${asked++}`
    const text = JSON.stringify({ n, kind })
    askedAt.set(text, performance.now())
    return { name: 'pay', id: `c${n}`, arguments: text }
  }
  await (isAnswered ? says('Done.') : asks('', pay('small'), pay('large')))(call)
}

/** A decision that a client sent. `kind`: of its call; `isTaken`: the answer said so. */
interface Sent {
  session: string
  callId: string
  kind: string
  decision: string
  remember: 'session' | 'user' | null
  isNarrow: boolean
  isTaken: boolean
}
const sent: Sent[] = []
/** Sessions of one user: every other one. */
const users = new Map<string, string>()

interface Pending {
  call_id: string
  arguments: string
}
const kindOf = (text: string): string => JSON.parse(text).kind
async function pendingOf(url: string, session: string): Promise<Pending[]> {
  const response = await fetch(`${url}${session}`).catch(() => null)
  return response?.ok ? Object(await response.json()).pending : []
}

/** Decides up to `count` of the calls that wait, and now and then for later ones, too. */
async function decideSome(url: string, session: string, random: () => number, count: number): Promise<void> {
  const pending = (await pendingOf(url, session)).slice(0, count)
  if (pending.length === 0) return
  const decision = random() < 0.7 ? 'approve' : 'reject'
  const reach = users.has(session) && random() < 0.5 ? ('user' as const) : ('session' as const)
  const remember = random() < 0.35 ? reach : null
  const isNarrow = random() < 0.5
  const decisions = pending.map(({ call_id }) => ({
    ...{ call_id, decision },
    ...(remember && { remember, ...(isNarrow && { remember_arguments: ['kind'] }) }),
  }))
  const records = pending.map(({ call_id: callId, arguments: text }) => ({
    ...{ session, callId, kind: kindOf(text), decision, remember, isNarrow, isTaken: false },
  }))
  sent.push(...records)
  const { status } = await postJson(`${url}${session}/actions`, { decisions })
  if (status === 200) for (const record of records) record.isTaken = true
}

async function step(url: string, session: string, random: () => number): Promise<void> {
  const what = random()
  if (what < 0.25) await postJson(completions(url, session), say('Pay!', false))
  else if (what < 0.6) await decideSome(url, session, random, 1)
  else if (what < 0.75) await decideSome(url, session, random, 2)
  else if (what < 0.85) await postJson(`${completions(url, session)}/cancel`, {})
  else if (what < 0.95) {
    await scene.cluster.database.sql`
      update waits set expires_at = clock_timestamp() where session_id = ${idOf(session)} and expires_at is not null`
  } else {
    const user = users.get(session)
    const path =
      user && random() < 0.5
        ? `${url}/api/v1/agents/${scene.agent}/deploy/users/${user}/decisions`
        : `${url}${session}/decisions`
    const { decisions } = Object(await (await fetch(path)).json())
    for (const { id } of decisions) {
      const { status } = await send(`${path}/${id}`, 'DELETE')
      if (status === 204) revokedAt.set(id, performance.now())
    }
  }
}

/** Returns the path of a new session: of every three, two are of one user. */
async function newConversation(url: string, n: number, round: number): Promise<string> {
  if (n % 3 === 0) return await newSession(url, scene.agent)
  const user = `user-${round}-${Math.floor(n / 3)}`
  const session = await newSession(url, scene.agent, { user })
  users.set(session, user)
  return session
}

async function runSchedule(session: string, random: () => number): Promise<void> {
  for (let n = 0; n < STEPS; n++) {
    const url = scene.cluster.urls[Math.floor(random() * 2)] ?? ''
    await Promise.race([step(url, session, random).catch(() => {}), pause(3000)])
    await pause(random() * 250)
  }
}

interface ShownCall {
  id: string
  decisionId?: string
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

/** Decisions that were ever remembered. `arguments`: null for any; the session or its user, in which it counts. */
interface Remembered {
  id: string
  session: string | null
  user: string | null
  decision: string
  arguments: string | null
}
let remembered: ReadonlyMap<string, Remembered> = new Map()

/** Keeps what is remembered beside, since a revoked or replaced decision is gone. */
const keepRemembered = () =>
  scene.cluster.database.sql.unsafe(`
    create table ever_remembered (like remembered_decisions);
    create function keep_remembered() returns trigger language plpgsql as
      $$ begin insert into ever_remembered values (new.*); return null; end $$;
    create trigger keep_remembered after insert on remembered_decisions for each row execute function keep_remembered()`)

async function readRemembered(): Promise<void> {
  const rows = await scene.cluster.database.sql<Remembered[]>`
    select id, session_id as session, end_user as "user", decision, arguments from ever_remembered`
  remembered = new Map(rows.map((row) => [row.id, row]))
}

/** A client sent this decision about the call, or the one that is named covers it and was to be remembered. */
function isCovered(session: string, { id, arguments: text, decision, decisionId }: ShownCall): boolean {
  if (decisionId === undefined)
    return sent.some((one) => one.decision === decision && one.session === session && one.callId === id)
  const named = remembered.get(decisionId)
  if (named === undefined || named.decision !== decision) return false
  const kind = named.arguments === null ? null : kindOf(named.arguments)
  const isHere = named.session === null ? users.get(session) === named.user : idOf(session) === named.session
  const isSent = sent.some(
    (one) =>
      one.decision === decision &&
      (kind === null ? !one.isNarrow : one.isNarrow && one.kind === kind) &&
      (named.session === null
        ? one.remember === 'user' && users.get(one.session) === named.user
        : one.remember === 'session' && one.session === session),
  )
  return isHere && isSent && (kind === null || kind === kindOf(text))
}

/** Counts what the schedules have come to, so that a run tells what it has tried. */
const seen = { made: 0, unknown: 0, approve: 0, reject: 0, expired: 0, remembered: 0 }

async function check(session: string): Promise<void> {
  const calls = (await shown(session)).flatMap(({ toolCalls = [], finishReason }) =>
    toolCalls.map((call) => ({ ...call, waited: finishReason === 'tool_calls' })),
  )
  for (const call of calls) {
    const { arguments: text, decision, ok, waited, decisionId } = call
    const made = tools.requests.filter(({ body }) => body === text)
    expect(made.length, `${text} is made once at most`).toBeLessThan(2)
    if (made.length === 1) expect(decision, `${text} was approved`).toBe('approve')
    // A message that comes instead of decisions rejects, too.
    if (decision === 'approve' || decisionId !== undefined)
      expect(isCovered(session, call), `${text} has a decision that covers it`).toBe(true)
    const revoked = revokedAt.get(decisionId ?? '') ?? Number.POSITIVE_INFINITY
    expect(askedAt.get(text) ?? 0, `${text} is covered by what is not revoked`).toBeLessThan(revoked)
    if (ok === true) expect(decision === 'approve' ? made.length : 1, `${text} has its own result`).toBe(1)
    // A reply that died before it had ended never offered its calls.
    if (waited) expect(decision, `${text} was decided`).toMatch(/^(approve|reject|expired)$/)
    seen.made += made.length
    if (decision === 'approve' && ok === null) seen.unknown += 1
    if (decision === 'approve' || decision === 'reject' || decision === 'expired') seen[decision] += 1
    if (decisionId !== undefined) seen.remembered += 1
  }
  for (const { session: of, callId, decision, isTaken } of sent)
    if (of === session && isTaken) {
      const stored = calls.find(({ id }) => id === callId)
      expect([callId, stored?.decision], 'a decision that was answered is kept').toEqual([callId, decision])
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
    await keepRemembered()
    for (let round = 0; round < ROUNDS; round++) {
      const all = await Promise.all(Array.from({ length: SESSIONS }, (_, n) => newConversation(first, n, round)))
      const schedules = Promise.all(all.map((session) => runSchedule(session, random)))
      await pause(500 + random() * 1000)
      const victim = Math.floor(random() * 2)
      await scene.cluster.kill9(victim)
      await pause(random() * 2000)
      await scene.cluster.restart(victim)
      await schedules
      for (const session of all) await settled(session)
      await readRemembered()
      for (const session of all) await check(session)
    }
    console.log(`${ROUNDS * SESSIONS} schedules: ${JSON.stringify(seen)}`)
  },
  { timeout: 120_000 + ROUNDS * 90_000 },
)
