/**
 * Whatever is carried out late, on two instances at once, changes nothing (contract section 35, repeats and late
 * arrivals).
 */
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { seededRandom } from '../../support/random.ts'
import { samples } from '../../support/samples.ts'
import { openSse, type SseFrame } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { type LateCluster, openLateCluster } from './late-cluster.ts'

const TALKERS = samples(12, 24)
const ROUNDS = samples(6, 10)
const MOST_MS = samples(400_000, 900_000)

/** The writes of a reply's way, which each run must have held. */
const always = [
  ...[
    'admit_message',
    'admit_messages',
    'settle_reply',
    'settle_replies',
    'insert into flushes',
    'insert into intents',
  ],
  ...['take_limits', 'take_out_messages', 'record_steps', 'update instances', 'offer_reply'],
]

interface Gate {
  isShut: boolean
  waiting: number
  opened: PromiseWithResolvers<void>
}

interface Model {
  random(): number
  /** The questions of the model, in order. */
  asked: string[]
  /** Hold the first turns of replies, and their ends, while they are shut. */
  firstTurns: Gate
  ends: Gate
}

const createGate = (): Gate => ({ isShut: false, waiting: 0, opened: Promise.withResolvers<void>() })

async function pass(gate: Gate): Promise<void> {
  if (!gate.isShut) return
  gate.waiting++
  await gate.opened.promise
}

function open(gate: Gate): void {
  gate.isShut = false
  gate.opened.resolve()
}

/** Asks for the time first; says a text of eight pieces then. The user's text is in each. */
async function speak(call: UpstreamCall, { random, asked, firstTurns, ends }: Model): Promise<void> {
  const { messages, tools } = call.body as { messages: { role: string; content: string }[]; tools?: unknown }
  const last = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  // The question of a reply that was cut off stands before the request for a summary.
  if (tools === undefined || !/^message .*$/.test(last)) {
    await call.text('A summary.')
    return await call.finish()
  }
  const hasTime = messages.at(-1)?.role === 'tool'
  asked.push(`${last} ${hasTime ? 'then' : 'first'}`)
  await delay(random() * 200)
  if (!hasTime) {
    await pass(firstTurns)
    await call.toolCall({ name: 'current_time', arguments: '{}' })
    return await call.finish('tool_calls')
  }
  for (let n = 0; n < 8; n++) {
    await call.text(`${last}-${n} `)
    await delay(random() * 40)
  }
  await pass(ends)
  await call.finish()
}

class Talker {
  readonly seen = new Map<string, string>()
  readonly problems: string[] = []
  sessionId = ''
  private readonly cluster: LateCluster
  private readonly key: string
  private readonly random: () => number

  constructor(cluster: LateCluster, key: string, random: () => number) {
    this.cluster = cluster
    this.key = key
    this.random = random
  }

  private get headers() {
    return { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' }
  }

  private get api(): string {
    const { apps, agentId } = this.cluster
    return `${apps[Math.floor(this.random() * apps.length)]?.url}/api/v1/agents/${agentId}/deploy`
  }

  /** Sends until there is an answer that is one. `done`: a status that says that an earlier try has done it. */
  async call(method: string, path: string, body?: object, done = 409): Promise<Response> {
    for (;;) {
      const answer = await fetch(this.api + path, {
        method,
        headers: this.headers,
        ...(body && { body: JSON.stringify(body) }),
      }).catch(() => null)
      if (answer && answer.status >= 400 && ![409, done].includes(answer.status) && answer.status < 500) {
        throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
      }
      if (answer && answer.status < 500) return answer
      await delay(100)
    }
  }

  note(frames: readonly SseFrame[]): void {
    for (const { id, data } of frames) {
      if (id === undefined) continue
      const before = this.seen.get(id)
      if (before !== undefined && before !== data) this.problems.push(`${this.sessionId} ${id}: ${before} / ${data}`)
      this.seen.set(id, data)
    }
  }

  /** Sends a message as clients do: again under its key, until its end has been seen. */
  async send(text: string, wanted: object = {}): Promise<void> {
    const headers = { ...this.headers, 'idempotency-key': text }
    const body = { messages: [{ role: 'user', content: text }], stream: true, ...wanted }
    for (;;) {
      const stream = await openSse(`${this.api}/sessions/${this.sessionId}/chat/completions`, body, headers).catch(
        () => null,
      )
      const { frames, broken } = stream ? await stream.rest() : { frames: [], broken: true }
      this.note(frames)
      if (stream && stream.status < 500 && !broken) return
      await delay(100)
    }
  }

  async begin(): Promise<void> {
    // A reply that is not stored takes its place of a limit by a statement of its own.
    await this.call('POST', '/chat/completions', { messages: [{ role: 'user', content: 'Alone.' }] })
    const made = await this.call('POST', '/sessions', {})
    this.sessionId = ((await made.json()) as { id: string }).id
  }

  async round(n: number): Promise<void> {
    const text = `message ${this.sessionId} ${n}`
    const at = this.random()
    const sending = this.send(text)
    const path = `/sessions/${this.sessionId}`
    if (at < 0.25) {
      await delay(this.random() * 300)
      await this.call('POST', `${path}/chat/completions/cancel`, at < 0.1 ? { queue: 'clear' } : undefined)
    } else if (at < 0.6) {
      const next = this.send(`${text} next`, { on_busy: at < 0.45 ? 'enqueue' : 'steer' })
      if (at < 0.4) {
        await delay(this.random() * 300)
        await this.call('POST', `${path}/chat/completions/cancel`, { queue: 'clear' })
      }
      await next
    }
    await sending
    // 400: a try without an answer has summarised all.
    if (at > 0.9) await this.call('POST', `${path}/compact`, undefined, 400)
    // Reads the newest reply elsewhere.
    this.note(
      (await (await openSse(`${this.api}${path}/chat/completions/stream`, undefined, this.headers)).rest()).frames,
    )
  }
}

verifies(
  'contract-35.late-writes',
  'on two instances, one of which drains and starts again',
  async () => {
    const random = seededRandom('late writes')
    await using cluster = await openLateCluster(random)
    const { apps, agentId, up, database } = cluster
    const { sql } = database
    const asked: string[] = []
    const [firstTurns, ends] = [createGate(), createGate()]
    up.always((call) => speak(call, { random, asked, firstTurns, ends }))
    const manage = async (method: string, path: string, body: object): Promise<{ key: string }> => {
      const headers = { 'content-type': 'application/json' }
      for (;;) {
        const answer = await fetch(`${apps[0]?.url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) })
        if (answer.status < 500) return (await answer.json()) as { key: string }
      }
    }
    await manage('PUT', `/agents/${agentId}/tools`, { builtInToolIds: ['current_time'] })
    const limits = { concurrentReplies: 1000, requestsPerMinute: 100_000 }
    const { key } = await manage('POST', '/keys', { name: 'late', scopes: ['deploy'], limits })
    const talkers = Array.from({ length: TALKERS }, () => new Talker(cluster, key, random))
    const talking = talkers.map(async (talker) => {
      await talker.begin()
      for (let n = 0; n < ROUNDS; n++) await talker.round(n)
    })
    await up.call(TALKERS * 2)
    // Replies of both instances come to a boundary while one drains.
    firstTurns.isShut = true
    await expect.poll(() => firstTurns.waiting).toBeGreaterThan(TALKERS / 2)
    const left = apps.pop()
    const stopping = left?.stop()
    await expect.poll(async () => (await fetch(`${left?.url}/readyz`)).status).toBe(503)
    open(firstTurns)
    await stopping
    await cluster.restart(1)
    await Promise.all(talking)
    // Replies that end at one moment are settled in one statement.
    ends.isShut = true
    const ending = talkers.map((talker) => talker.send(`message ${talker.sessionId} together`))
    await expect.poll(() => ends.waiting).toBeGreaterThan(TALKERS / 2)
    open(ends)
    await Promise.all(ending)
    await cluster.settle()

    // Every reply ends, and nothing is held, waits or runs. An instance that has left reads no request any more: upkeep
    // removes them.
    const rest = async () =>
      await sql`
      select 'running' as left, id::text from messages where status = 'streaming'
      union all select 'queued', id::text from queued_messages where admission is null
      union all select 'held', id::text from sessions where compaction is not null
      union all select 'place', reply_id::text from limit_places
      union all select 'offer', reply_id::text from handovers
      union all select 'intent', reply_id::text from intents where instance_id in (select id from instances where lost_at is null)`
    await expect.poll(rest).toEqual([])
    // No frame has ever had two contents, and all is read later as it was seen.
    expect(talkers.flatMap(({ problems }) => problems)).toEqual([])
    // No turn of a model was asked for twice.
    expect(asked.filter((one, at) => asked.indexOf(one) !== at)).toEqual([])
    // Each session takes a message, on each instance.
    for (const talker of talkers) {
      await talker.send(`message ${talker.sessionId} last`)
      const read = await talker.call('GET', `/sessions/${talker.sessionId}/messages`)
      const { messages } = (await read.json()) as { messages: object[] }
      expect(messages.at(-1)).toMatchObject({ role: 'assistant', status: 'complete', finish_reason: 'stop' })
    }
    const [{ replies }] = (await sql`select count(*)::integer as replies from messages where role = 'assistant'`) as [
      { replies: number },
    ]
    const total = [...cluster.held.values()].reduce((sum, count) => sum + count, 0)
    console.log(
      `${replies} replies, ${asked.length} turns, ${total} statements late:`,
      Object.fromEntries(cluster.held),
    )
    expect(always.filter((name) => !cluster.held.has(name))).toEqual([])
  },
  { timeout: MOST_MS },
)
