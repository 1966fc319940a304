/** Every purchase is in the transcript, wherever the owner was killed (contract section 10). */
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { asks, says } from '../http/tool-scene.ts'
import type { UpstreamCall } from '../support/network/upstream.ts'
import { newSession } from '../support/programs/product.ts'
import { seededRandom } from '../support/random.ts'
import { samples } from '../support/samples.ts'
import { openSse } from '../support/streams/sse.ts'
import { verifies } from '../verifies.ts'
import { openToolFaults, repliesOf, type ToolFaults } from './tool-faults.ts'

const LIVES = samples(2, 4)
const REPLIES = 50
/** Longest time from a run's first call to its kill, and the pause of the database before that (milliseconds). */
const LIFE_MS = 400
const STALL_MS = 200

const buy = (n: number) => ({ name: 'buy', arguments: '{}', id: `call-${n}` })

/** Buys twice, the second time two at once, each time slightly later than other replies. */
async function shopper(call: UpstreamCall, random: () => number): Promise<void> {
  const results = call.body.messages.filter(({ role }: { role: string }) => role === 'tool').length
  await delay(random() * LIFE_MS)
  if (results === 0) await asks('', buy(1))(call)
  else if (results === 1) await asks('', buy(2), buy(3))(call)
  else await says('Bought.')(call)
}

/** Many concurrent replies in new sessions, until the owner is killed. */
async function live(scene: ToolFaults, stalls: boolean, random: () => number): Promise<string[]> {
  const { up, proxy } = scene
  const owner = await scene.start()
  const before = up.calls.length
  const sessions = await Promise.all(Array.from({ length: REPLIES }, () => newSession(owner.url, scene.agentId())))
  const streams = sessions.map((session) =>
    openSse(`${owner.url}${session}/chat/completions`, {
      messages: [{ role: 'user', content: 'Buy!' }],
      stream: true,
    }).then((stream) => stream.rest()),
  )
  for (const stream of streams) stream.catch(() => {}) // the owner is killed before some have received a byte
  await up.call(before + REPLIES)
  if (!stalls) await up.call(before + REPLIES + 1) // one has a result
  await delay(random() * LIFE_MS)
  if (stalls) {
    proxy.stall()
    await delay(STALL_MS)
  }
  await owner.kill9()
  proxy.restore()
  await Promise.allSettled(streams)
  return sessions
}

verifies(
  ['contract-10.commit-first', 'contract-10.unknown-outcome', 'contract-10.keys'],
  'a kill among fifty replies, half the time with a suspended database: every effect is a call in the transcript',
  async () => {
    const random = seededRandom('kill points')
    // Long enough that a busy machine loses no lease before the kill: then fewer calls would come than are awaited.
    await using scene = await openToolFaults({ leaseMs: 10_000 })
    scene.up.always((call) => shopper(call, random))
    const sessions: string[] = []
    for (let life = 0; life < LIVES; life++) sessions.push(...(await live(scene, life % 2 === 1, random)))
    const heir = await scene.start('direct')
    const running = async () => (await scene.database.sql`select 1 from messages where status = 'streaming'`).length
    await expect.poll(running).toBe(0)

    const replies = (await Promise.all(sessions.map((session) => repliesOf(heir.url, session)))).flat()
    const calls = new Map(replies.flatMap(({ id, toolCalls }) => toolCalls.map((call, n) => [`${id}:${n + 1}`, call])))
    const effects = scene.shop.requests.map(({ request }) => `${request.headers['idempotency-key']}`)
    expect(effects.filter((key) => !calls.has(key))).toEqual([])
    // Nothing is executed twice, and every call with a result was executed.
    expect(new Set(effects).size).toBe(effects.length)
    const done = [...calls].filter(([, { ok }]) => ok === true)
    expect(done.filter(([key]) => !effects.includes(key))).toEqual([])
    // All kinds occurred: calls with a result, with an effect but no result, and with neither.
    const unknown = [...calls].filter(([, { ok }]) => ok === null)
    console.log(`${replies.length} replies, ${calls.size} calls, ${effects.length} effects, ${unknown.length} unknown`)
    expect(Math.min(done.length, unknown.length)).toBeGreaterThan(0)
  },
)
