/**
 * A session waits through crashes, and then acts exactly once (contract section 15): the owner ends, killed or asked to,
 * anywhere between ask, decide, run and answer. WAITING_RUNS sets how many sessions go through that (20). OLDER_CHECKOUT, the
 * path of an older version's checkout, lets that one make the data, end in the middle of replies, and run beside all this.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { asks, says } from '../http/tool-scene.ts'
import { newSession, type Product, postJson } from '../support/product.ts'
import { seededRandom } from '../support/random.ts'
import type { UpstreamCall } from '../support/upstream.ts'
import { verifies } from '../verifies.ts'
import { openToolFaults, repliesOf, type ToolFaults } from './tool-faults.ts'

vi.setConfig({ testTimeout: 600_000 })

const SESSIONS = Number(process.env.WAITING_RUNS ?? 20)
const OLDER = process.env.OLDER_CHECKOUT
/** Lives of the owner in which something may happen; after them one that lives on. */
const LIVES = Math.max(4, Math.ceil(SESSIONS / 5))
/** Longest time of one step of the model or the tool, and of a life (milliseconds). */
const STEP_MS = 300
const LIFE_MS = 600

const actionsOf = (session: string) => `${session}/actions`
const said = (content: string) => ({ messages: [{ role: 'user', content }] })

async function read(url: string, path: string) {
  return Object(await (await fetch(`${url}${path}`)).json())
}

/** What was under way when an owner ended, by the step that it cut. */
type Cuts = Record<'ask' | 'wait' | 'run' | 'answer', number>

/** One step of a session: it asks, or what waits is approved, each under a key of its own. Says what was answered. */
async function step(url: string, session: string): Promise<'asked' | 'decided' | 'none'> {
  const { pending } = await read(url, session)
  const { messages } = await read(url, `${session}/messages`)
  const send = (path: string, body: object, key: string) => postJson(`${url}${path}`, body, { 'idempotency-key': key })
  if (!messages.some(({ content }: { content: string }) => content === 'Buy!')) {
    await send(`${session}/chat/completions`, said('Buy!'), 'ask')
    return 'asked'
  }
  if (pending.length === 0) return 'none'
  const decisions = pending.map(({ call_id }: { call_id: string }) => ({ call_id, decision: 'approve' }))
  const { status } = await send(actionsOf(session), { decisions }, 'decide')
  return status === 200 ? 'decided' : 'none'
}

/** These sessions take a step each, until the owner ends. Resolves to those whose decision was answered. */
async function live(
  owner: Product,
  sessions: readonly string[],
  { random, ends }: { random: () => number; ends: () => Promise<void> },
): Promise<string[]> {
  const decided: string[] = []
  const steps = sessions.map(async (session) => {
    await delay(random() * LIFE_MS)
    const taken = await step(owner.url, session).catch(() => 'none') // the owner has ended
    if (taken === 'decided') decided.push(session)
  })
  await delay(random() * LIFE_MS * 1.5)
  await ends()
  if (random() < 0.7) await owner.kill9()
  else await owner.stop()
  await Promise.allSettled(steps)
  return decided
}

/** Sessions made by the older version, the replies of half of them cut by its crash; another one of it then runs on. */
async function foundedByOlder(scene: ToolFaults, checkout: string, random: () => number): Promise<string[]> {
  const founder = await scene.start('direct', checkout)
  const elder = await scene.start('direct', checkout)
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => newSession(founder.url, scene.agentId())))
  const greetings = sessions.map((session, n) =>
    postJson(`${(n % 2 ? founder : elder).url}${session}/chat/completions`, said('Hello')).catch(() => {}),
  )
  await delay(random() * STEP_MS)
  await founder.kill9()
  await Promise.all(greetings)
  const younger = await scene.start('direct') // migrates beneath the elder
  await needApproval(younger, scene.agentId())
  const asked = await postJson(`${elder.url}${sessions[0]}/chat/completions`, said('Buy!'))
  expect([asked.status, scene.shop.requests.length], 'the older version acts for nobody who must be asked').toEqual([
    503, 0,
  ])
  await younger.kill9()
  return sessions
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

/** Steps that take their time. `open` counts those under way. */
async function openSlowScene(random: () => number) {
  const open = { ask: 0, run: 0, answer: 0 }
  const during = async (step: keyof typeof open, closed: Promise<void>) => {
    open[step] += 1
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
    const isAnswered = call.body.messages.some(({ role }: { role: string }) => role === 'tool')
    await during(isAnswered ? 'answer' : 'ask', call.closed)
    if (isAnswered) await says('Bought.')(call)
    else if (call.body.messages.at(-1)?.content === 'Hello') await says('Hi.')(call)
    else await asks('', { name: 'buy', arguments: '{}', id: 'the-call' })(call)
  })
  return { scene, open }
}

verifies(
  'contract-15.crash',
  'wherever the owner ends, a decision is kept and its call is made once at most',
  async () => {
    const random = seededRandom('waiting crash')
    const { scene, open } = await openSlowScene(random)
    await using _ = scene
    const sessions = OLDER ? await foundedByOlder(scene, OLDER, random) : await founded(scene)
    const births = new Map(sessions.map((session) => [session, Math.floor(random() * LIVES * 0.8)]))
    const cuts: Cuts = { ask: 0, wait: 0, run: 0, answer: 0 }
    const ends = async () => {
      for (const step of ['ask', 'run', 'answer'] as const) cuts[step] += open[step]
      cuts.wait += (await scene.database.sql`select 1 from waits`).length
    }
    const decided: string[] = []
    for (let life = 0; life < LIVES; life++) {
      const born = sessions.filter((session) => (births.get(session) ?? 0) <= life)
      decided.push(...(await live(await scene.start('direct'), born, { random, ends })))
    }

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
    const unknown = calls.filter(({ call }) => call.decision === 'approve' && call.ok === null).length
    console.log(
      `${sessions.length} sessions, ${LIVES} lives; ended at ${JSON.stringify(cuts)}; ${calls.length} calls, ` +
        `${approved.size} approved, ${effects.length} effects, ${unknown} without a known result`,
    )
    expect(effects.length).toBeGreaterThan(0)
  },
)
