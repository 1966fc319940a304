/**
 * A session waits through crashes, and then acts exactly once (contract section 15): the owner ends, killed or asked to,
 * anywhere between ask, decide, run and answer. WAITING_RUNS sets how many sessions go through that (20).
 */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { asks, says } from '../http/tool-scene.ts'
import { newSession, postJson } from '../support/product.ts'
import { seededRandom } from '../support/random.ts'
import type { UpstreamCall } from '../support/upstream.ts'
import { verifies } from '../verifies.ts'
import { openToolFaults, repliesOf, type ToolFaults } from './tool-faults.ts'

vi.setConfig({ testTimeout: 600_000 })

const SESSIONS = Number(process.env.WAITING_RUNS ?? 20)
/** Lives of the owner in which something may happen; after them one that lives on. */
const LIVES = Math.max(2, Math.ceil(SESSIONS / 10))
/** Longest time of one step of the model or the tool, and of a life (milliseconds). */
const STEP_MS = 300
const LIFE_MS = 600

const actionsOf = (session: string) => `${session}/actions`
const isWaiting = ({ pending }: { pending: unknown[] }) => pending.length > 0

async function read(url: string, path: string) {
  return Object(await (await fetch(`${url}${path}`)).json())
}

/** One step of a session: it asks, or what waits is approved, each under a key of its own. Says what was answered. */
async function step(url: string, session: string): Promise<'asked' | 'decided' | 'none'> {
  const { pending } = await read(url, session)
  const { messages } = await read(url, `${session}/messages`)
  const send = (path: string, body: object, key: string) => postJson(`${url}${path}`, body, { 'idempotency-key': key })
  if (messages.length === 0) {
    await send(`${session}/chat/completions`, { messages: [{ role: 'user', content: 'Buy!' }] }, 'ask')
    return 'asked'
  }
  if (!isWaiting({ pending })) return 'none'
  const decisions = pending.map(({ call_id }: { call_id: string }) => ({ call_id, decision: 'approve' }))
  const { status } = await send(actionsOf(session), { decisions }, 'decide')
  return status === 200 ? 'decided' : 'none'
}

/** All sessions take a step each, until the owner ends. Those whose decision was answered. */
async function live(scene: ToolFaults, sessions: readonly string[], random: () => number): Promise<string[]> {
  const owner = await scene.start('direct')
  const decided: string[] = []
  const steps = sessions.map(async (session) => {
    await delay(random() * LIFE_MS)
    const taken = await step(owner.url, session).catch(() => 'none') // the owner has ended
    if (taken === 'decided') decided.push(session)
  })
  await delay(random() * LIFE_MS * 1.5)
  if (random() < 0.7) await owner.kill9()
  else await owner.stop()
  await Promise.allSettled(steps)
  return decided
}

verifies(
  'contract-15.crash',
  'wherever the owner ends, a decision is kept and its call is made once at most',
  async () => {
    const random = seededRandom('waiting crash')
    await using scene = await openToolFaults({
      leaseMs: 1500,
      answer: async () => {
        await delay(random() * STEP_MS)
        return 'sold'
      },
      env: { DRAIN_TIMEOUT_S: '1' },
    })
    scene.up.always(async (call: UpstreamCall) => {
      await delay(random() * STEP_MS)
      const isAnswered = call.body.messages.some(({ role }: { role: string }) => role === 'tool')
      await (isAnswered ? says('Bought.') : asks('', { name: 'buy', arguments: '{}', id: 'the-call' }))(call)
    })
    const first = await scene.start('direct')
    const path = `/api/v1/agents/${scene.agentId()}/tools`
    await fetch(`${first.url}${path}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ approvals: '*' }),
    })
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => newSession(first.url, scene.agentId())))
    await first.kill9()
    const decided: string[] = []
    for (let life = 0; life < LIVES; life++) decided.push(...(await live(scene, sessions, random)))

    const heir = await scene.start('direct')
    const streaming = async () => (await scene.database.sql`select 1 from messages where status = 'streaming'`).length
    await expect.poll(streaming).toBe(0)
    // Nobody is stuck: what still waits can be decided, and what never began begins.
    for (const session of sessions) while ((await step(heir.url, session)) !== 'none') {}
    for (const session of sessions) expect((await read(heir.url, session)).pending).toEqual([])

    const effects = scene.shop.requests.map(({ request }) => `${request.headers['idempotency-key']}`)
    expect(new Set(effects).size, 'no effect is doubled').toBe(effects.length)
    const all = await Promise.all(
      sessions.map(async (session) => ({ session, replies: await repliesOf(heir.url, session) })),
    )
    const calls = all.flatMap(({ session, replies }) =>
      replies.flatMap(({ id, toolCalls }) => toolCalls.map((call, n) => ({ session, key: `${id}:${n + 1}`, call }))),
    )
    const approved = new Set(calls.filter(({ call }) => call.decision === 'approve').map(({ key }) => key))
    expect(
      effects.filter((key) => !approved.has(key)),
      'every effect was approved',
    ).toEqual([])
    const done = calls.filter(({ call }) => call.ok === true).map(({ key }) => key)
    expect(
      done.filter((key) => !effects.includes(key)),
      'every result has its effect',
    ).toEqual([])
    const lost = decided.filter((session) => !calls.some((one) => one.session === session && approved.has(one.key)))
    expect(lost, 'no decision that was answered is lost').toEqual([])
    console.log(
      `${sessions.length} sessions, ${calls.length} calls, ${approved.size} approved, ${effects.length} effects`,
    )
    expect(effects.length).toBeGreaterThan(0)
  },
)
