/** Contract section 14: a fork at any frame is, byte for byte, what a reader had seen then. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import type { StoredEvent } from '../../../../src/actors/reply/reply-event.ts'
import { forkSession } from '../../../../src/features/branches/store/new-session.ts'
import { listMessages } from '../../../persistence/list-messages.ts'
import {
  finished,
  openScene,
  reasoningAt,
  type Scene,
  textAt,
  toolCallAt,
  toolResultAt,
} from '../../../persistence/scene.ts'
import { seededRandom } from '../../../support/random.ts'
import { verifies } from '../../../verifies.ts'

/** More: `FORK_REPLIES=100 npx vitest run test/features/branches/store/forks.test.ts`. */
const REPLIES = Number(process.env.FORK_REPLIES ?? 8)

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

const pieces = [
  'a',
  'wörd ',
  '😀',
  '👩‍👩‍👧‍👦',
  '漢字',
  '한국어',
  'e\u0301',
  '\u0308',
  '\u200d',
  '\r\n',
  '\ufeff',
  '🇩',
  '🇪',
  ' ',
  '٣',
]

/** Frames from `firstSeq + 1` on: texts, reasoning, calls and their results between them. */
function randomEvents(firstSeq: number, random: () => number): StoredEvent[] {
  const events: StoredEvent[] = []
  const text = () =>
    Array.from({ length: 1 + random() * 4 }, () => pieces[Math.floor(random() * pieces.length)]).join('')
  const frames = Math.floor(random() * 25)
  for (let seq = firstSeq; seq <= firstSeq + frames; seq++) {
    if (seq > firstSeq) events.push(random() < 0.25 ? reasoningAt(seq, text()) : textAt(seq, text()))
    if (random() < 0.15) events.push(toolCallAt(seq, 1, `c${seq}`), toolResultAt(seq, 2, `c${seq}`))
  }
  return events
}

async function copyAt(session: string, frameId: number | null) {
  const fork = { sessionId: session, owner: null, frameId }
  const made = await forkSession(scene.sql, scene.agentId, {}, fork)
  if (made === null || typeof made === 'string') return made
  const reply = (await listMessages(scene.sql, scene.agentId, made.id))?.at(-1)
  return {
    text: reply?.content,
    reasoning: reply?.reasoning ?? '',
    status: reply?.status,
    reason: reply?.finishReason,
    tools: reply?.toolEvents.map(({ event, offset }) => [event.type, offset]),
  }
}

function seenAt(events: readonly StoredEvent[], frame: number, isSettled: boolean) {
  const seen = events.filter(({ seq, part }) => seq < frame || (seq === frame && part === 0))
  const joined = (type: 'text' | 'reasoning', from: readonly StoredEvent[]) =>
    from.flatMap(({ event }) => (event.type === type ? [event.text] : [])).join('')
  const text = joined('text', seen)
  const isWhole = text === joined('text', events)
  const tools: [string, number][] = []
  let offset = 0
  for (const { event } of seen) {
    if (event.type === 'text') offset += event.text.length
    else if (event.type !== 'reasoning') tools.push([event.type, offset])
  }
  const reason = isSettled && isWhole ? 'stop' : 'cancelled'
  return { text, reasoning: joined('reasoning', seen), status: 'complete', reason, tools }
}

verifies(
  'contract-14.fork-bytes',
  'at every frame id of random replies, while they run and for ever after',
  async () => {
    const random = seededRandom('forks')
    const session = await scene.newSession()
    for (let count = 0; count < REPLIES; count++) {
      const reply = await scene.begin(session)
      const events = randomEvents(reply.firstSeq, random)
      await scene.journal.append(reply, () => events)
      const last = reply.firstSeq + events.filter(({ part }) => part === 0).length
      const check = async (isSettled: boolean) => {
        for (let frame = reply.firstSeq; frame <= last + 2; frame++) {
          expect([frame, await copyAt(session, frame)]).toEqual([frame, seenAt(events, frame, isSettled)])
        }
        expect(await copyAt(session, null)).toEqual(seenAt(events, Number.MAX_SAFE_INTEGER, isSettled))
        expect(await copyAt(session, reply.firstSeq - 1)).toBe('no_frame')
      }
      await check(false)
      await scene.journal.settle(reply, finished())
      await check(true)
    }
  },
  { timeout: 20_000 + REPLIES * 5000 },
)

verifies('contract-14.fork-bytes', 'a settlement waits until what is said is copied', async () => {
  const session = await scene.newSession()
  const reply = await scene.begin(session)
  await scene.journal.append(reply, () => [textAt(2, 'said')])
  let isSettled = false
  const settled = await scene.sql.begin(async (sql) => {
    const copy = { id: randomUUID(), agent_id: scene.agentId, from: session }
    const [made] = await sql<{ answer: string }[]>`select fork_session(${JSON.stringify(copy)}::text::jsonb) as answer`
    expect(made?.answer).toBe('made')
    const settling = scene.journal.settle(reply, finished()).then(() => {
      isSettled = true
    })
    await expect.poll(() => scene.waiting()).toBe(1)
    expect(isSettled).toBe(false)
    return { copyId: copy.id, settling }
  })
  await settled.settling
  const copy = await listMessages(scene.sql, scene.agentId, settled.copyId)
  expect(copy?.at(-1)).toMatchObject({ content: 'said', finishReason: 'cancelled' })
})

verifies('contract-14.fork-bytes', 'a copy has no frames, and can be copied again as a whole', async () => {
  const session = await scene.newSession()
  const reply = await scene.begin(session)
  const events = [
    textAt(2, 'one '),
    toolCallAt(2, 1, 'c'),
    toolResultAt(2, 2, 'c'),
    reasoningAt(3, 'hm'),
    textAt(4, 'two'),
  ]
  await scene.journal.append(reply, () => events)
  await scene.journal.settle(reply, finished())
  const fork = { sessionId: session, owner: null }
  const copy = await forkSession(scene.sql, scene.agentId, {}, fork)
  if (copy === null || typeof copy === 'string') throw new Error('not copied')
  const again = await forkSession(scene.sql, scene.agentId, {}, { ...fork, sessionId: copy.id })
  if (again === null || typeof again === 'string') throw new Error('not copied again')
  const shown = async (id: string) =>
    (await listMessages(scene.sql, scene.agentId, id))?.map((message) => {
      const { role, content, status, finishReason, createdAt, model, reasoning, toolEvents } = message
      const tools = toolEvents.map(({ event, offset }) => [event, offset])
      return { role, content, status, finishReason, createdAt, model, reasoning, tools }
    })
  expect(await shown(copy.id)).toEqual(await shown(session))
  expect(await shown(again.id)).toEqual(await shown(session))
  expect(await forkSession(scene.sql, scene.agentId, {}, { ...fork, sessionId: copy.id, frameId: 1 })).toBe('no_frame')
  // What follows a copy gets its calls in their places, as it gets those of the original.
  const history = async (id: string) => {
    const next = await scene.journal.admit(scene.message(id))
    if (next.outcome !== 'admitted') throw new Error(next.outcome)
    expect(next.reply.firstSeq).toBe(id === session ? 7 : 1)
    return await scene.journal.history(id, next.historyEnd, { maxBytes: 1000, maxToolText: 100 })
  }
  const original = await history(session)
  expect(original.messages[1]?.toolEvents?.[0]?.end).toBe(4)
  expect(await history(again.id)).toEqual(original)
})
