/**
 * A session waits through crashes, and then acts exactly once (contract section 15): the owner ends, killed or asked to,
 * anywhere between ask, decide, run and answer.
 */
import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { asks, says } from '../http/tool-scene.ts'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { newSession, type Product, postJson, type WireMessage } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { samples } from '../support/samples.ts'
import { verifies } from '../verifies.ts'
import { openToolFaults, repliesOf, type ToolFaults } from './tool-faults.ts'

const SESSIONS = samples(20, 300)
vi.setConfig({ testTimeout: 300_000 + SESSIONS * 3000 })
/** Lives of the owner in which something may happen; after them one that lives on. */
const LIVES = Math.max(6, Math.ceil(SESSIONS / 10))
/** Longest time of one step of the model or the tool, and between the sessions of a life (milliseconds). */
const STEP_MS = 300
const SPREAD_MS = 600

const actionsOf = (session: string) => `${session}/actions`
const said = (content: string) => ({ messages: [{ role: 'user', content }] })

async function read(url: string, path: string) {
  return Object(await (await fetch(`${url}${path}`)).json())
}

/** What was under way when an owner ended, by the step that it cut. */
type Cuts = Record<'ask' | 'wait' | 'run' | 'answer', number>

/** One step of a session: it asks, anew after an error, or what waits is approved, each under a key of its own. */
async function step(url: string, session: string): Promise<'asked' | 'decided' | 'none'> {
  const { pending } = await read(url, session)
  const { messages }: { messages: WireMessage[] } = await read(url, `${session}/messages`)
  const send = (path: string, body: object, key: string) => postJson(`${url}${path}`, body, { 'idempotency-key': key })
  const asked = messages.filter(({ content }) => content === 'Buy!').length
  if (asked === 0 || messages.at(-1)?.status === 'error') {
    await send(`${session}/chat/completions`, said('Buy!'), `ask ${asked}`)
    return 'asked'
  }
  if (pending.length === 0) return 'none'
  const decisions = pending.map(({ call_id }: { call_id: string }) => ({ call_id, decision: 'approve' }))
  const { status } = await send(actionsOf(session), { decisions }, `decide ${asked}`)
  return status === 200 ? 'decided' : 'none'
}

interface Life {
  random: () => number
  /** Steps of the model and the tool, as they begin. */
  begins: EventEmitter
  /** Called before the owner ends. */
  onEnd: () => Promise<void>
}

/**
 * These sessions take a step each, and the owner ends: while one asks, runs or answers, or when all wait. Resolves to
 * those whose decision was answered.
 */
async function live(
  owner: Product,
  sessions: readonly string[],
  { random, begins, onEnd }: Life,
): Promise<{ session: string }[]> {
  const decided: { session: string }[] = []
  const cut = (['ask', 'wait', 'run', 'answer'] as const)[Math.floor(random() * 4)] ?? 'wait'
  using over = new DisposableStack()
  const stop = over.adopt(new AbortController(), (controller) => controller.abort())
  const begun = once(begins, cut, { signal: stop.signal }).then(
    () => delay(random() * STEP_MS),
    () => {},
  )
  const steps = sessions.map(async (session) => {
    await delay(random() * SPREAD_MS)
    const taken = await step(owner.url, session).catch(() => 'none') // the owner has ended
    if (taken === 'decided') decided.push({ session })
  })
  await Promise.race([begun, Promise.allSettled(steps)])
  await onEnd()
  if (random() < 0.7) await owner.kill9()
  else await owner.stop()
  await Promise.allSettled(steps)
  return decided
}

async function founded(scene: ToolFaults): Promise<string[]> {
  const first = await scene.start('direct')
  await needApproval(first, scene.agentId())
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => newSession(first.url, scene.agentId())))
  await first.kill9()
  return sessions
}

async function needApproval({ client }: Product, agentId: string): Promise<void> {
  const { error } = await client.PUT('/api/v1/agents/{agent_id}/tools', {
    params: { path: { agent_id: agentId } },
    body: { approvals: '*' },
  })
  if (error) throw new Error(JSON.stringify(error))
}

/** Steps that take their time. `open` counts those under way, `begins` tells of each. */
async function openSlowScene(random: () => number) {
  const open = { ask: 0, run: 0, answer: 0 }
  const begins = new EventEmitter()
  const during = async (step: keyof typeof open, closed: Promise<void>) => {
    open[step] += 1
    begins.emit(step)
    await Promise.race([delay(random() * STEP_MS), closed])
    open[step] -= 1
  }
  const scene = await openToolFaults({
    leaseMs: 1500,
    answer: async ({ closed }) => {
      await during('run', closed)
      return 'sold'
    },
    env: { DRAIN_TIMEOUT_S: '1' },
  })
  scene.up.always(async (call: UpstreamCall) => {
    const isAnswered = call.body.messages.at(-1)?.role === 'tool'
    await during(isAnswered ? 'answer' : 'ask', call.closed)
    if (isAnswered) await says('Bought.')(call)
    else await asks('', { name: 'buy', arguments: '{}', id: 'the-call' })(call)
  })
  return { scene, open, begins }
}

verifies(
  'contract-15.crash',
  'wherever the owner ends, a decision is kept and its call is made once at most',
  async () => {
    const random = seededRandom('waiting crash')
    const { scene, open, begins } = await openSlowScene(random)
    await using _ = scene
    const sessions = await founded(scene)
    const births = new Map(sessions.map((session) => [session, Math.floor(random() * LIVES * 0.8)]))
    const cuts: Cuts = { ask: 0, wait: 0, run: 0, answer: 0 }
    const onEnd = async () => {
      for (const step of ['ask', 'run', 'answer'] as const) cuts[step] += open[step]
      cuts.wait += (await scene.database.sql`select 1 from waits`).length
    }
    const decided: { session: string }[] = []
    for (let life = 0; life < LIVES; life++) {
      const born = sessions.filter((session) => (births.get(session) ?? 0) <= life)
      decided.push(...(await live(await scene.start('direct'), born, { random, begins, onEnd })))
    }

    const heir = await scene.start('direct')
    const streaming = async () => (await scene.database.sql`select 1 from messages where status = 'streaming'`).length
    await expect.poll(streaming).toBe(0)
    // No session is stuck: what still waits can be decided, and what never began begins.
    const goOn = async (session: string) => {
      while ((await step(heir.url, session)) !== 'none') {}
    }
    await Promise.all(sessions.map(goOn))
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
    const times = (list: readonly { session: string }[], session: string) =>
      list.filter((one) => one.session === session).length
    const kept = calls.filter(({ key }) => approved.has(key))
    const lost = decided.filter((one) => times(decided, one.session) > times(kept, one.session))
    expect(lost, 'no decision that was answered is lost').toEqual([])
    const unknown = calls.filter(({ call }) => call.decision === 'approve' && call.ok === null).length
    console.log(
      `${sessions.length} sessions, ${LIVES} lives; ended at ${JSON.stringify(cuts)}; ${calls.length} calls, ` +
        `${approved.size} approved, ${effects.length} effects, ${unknown} without a known result`,
    )
    expect(effects.length).toBeGreaterThan(0)
  },
)
