/** Appending, settling and reading: a reply reads the same before and after folding. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ReplyInfo } from '../../../../src/actors/ports/index.ts'
import type { StoredEvent } from '../../../../src/actors/reply/reply-event.ts'
import { verifies } from '../../../verifies.ts'
import { listMessages } from '../../list-messages.ts'
import {
  failed,
  finished,
  openScene,
  reasoningAt,
  type Scene,
  textAt,
  toolCallAt,
  toolResultAt,
  versions,
} from '../../scene.ts'

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const foldedRow = async (reply: ReplyInfo) => {
    const [row] = await scene.sql<{ content: string; frame_ends: number[]; tool_events: unknown; next_seq: number }[]>`
      select m.content, m.frame_ends, m.tool_events, s.next_seq from messages m join sessions s on s.id = m.session_id
       where m.id = ${reply.id}`
    return row
  }

  verifies('contract-4.resume', 'frames fold into content and their ends in UTF-8 bytes', async () => {
    const reply = await scene.begin(await scene.newSession())
    await scene.journal.append(reply, () => [
      textAt(2, 'aé'),
      toolCallAt(2, 1, 'c1'),
      toolResultAt(2, 2, 'c1', 'naïve "ß"'),
    ])
    await scene.journal.append(reply, () => [textAt(3, '€'), textAt(4, '😀x'), toolCallAt(4, 1, 'c2')])
    expect(await scene.journal.settle(reply, finished())).toMatchObject({ result: 'settled' })
    expect(await foldedRow(reply)).toEqual({
      content: 'aé€😀x',
      frame_ends: [3, 6, 11],
      tool_events: [toolCallAt(2, 1, 'c1'), toolResultAt(2, 2, 'c1', 'naïve "ß"'), toolCallAt(4, 1, 'c2')],
      next_seq: 7, // role 1, texts 2 to 4, finish 5, [DONE] 6
    })
    const [, message] = (await listMessages(scene.sql, scene.agentId, reply.sessionId)) ?? []
    expect(message?.toolEvents.map(({ offset }) => offset)).toEqual([2, 2, 6])
  })

  verifies('contract-12.reasoning', 'reasoning folds into columns of its own, at ids of its own', async () => {
    const reply = await scene.begin(await scene.newSession())
    await scene.journal.append(reply, () => [reasoningAt(2, 'hé'), reasoningAt(3, '€'), toolCallAt(3, 1, 'c1')])
    await scene.journal.append(reply, () => [textAt(4, 'aé'), reasoningAt(5, '😀'), textAt(6, 'b')])
    const read = async () => {
      const [, message] = (await listMessages(scene.sql, scene.agentId, reply.sessionId)) ?? []
      return [message?.content, message?.reasoning, message?.toolEvents.map(({ offset }) => offset)]
    }
    const running = await read()
    expect(running).toEqual(['aéb', 'hé€😀', [0]])
    await scene.journal.settle(reply, finished({ reasoningMs: 7 }))
    expect(await foldedRow(reply)).toMatchObject({ content: 'aéb', frame_ends: [0, 0, 3, 3, 4], next_seq: 9 })
    const [row] = await scene.sql`
      select reasoning, reasoning_frames, reasoning_ends, reasoning_ms from messages where id = ${reply.id}`
    expect(row).toEqual({
      reasoning: 'hé€😀',
      reasoning_frames: [1, 2, 4],
      reasoning_ends: [3, 6, 10],
      reasoning_ms: 7,
    })
    expect(await read()).toEqual(running)
  })

  verifies('contract-4.resume', 'every id reads the same events before and after folding', async () => {
    // Code points of one to four bytes, so that boundaries fall on any byte.
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '\n', '"'), minLength: 1, maxLength: 4 })
    const tools = fc.integer({ min: 0, max: 2 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(text, tools, fc.boolean()), { maxLength: 8 }),
        tools,
        async (parts, firstTools) => {
          const reply = await scene.begin(await scene.newSession())
          const events: StoredEvent[] = toolsAt(1, firstTools)
          for (const [index, [content, count, isReasoning]] of parts.entries()) {
            const at = isReasoning ? reasoningAt : textAt
            events.push(at(index + 2, content), ...toolsAt(index + 2, count))
          }
          for (const event of events) expect(await scene.journal.append(reply, () => [event])).toBe('stored')
          const ids = Array.from({ length: parts.length + 5 }, (_, id) => id)
          const readAll = () => Promise.all(ids.map(async (id) => (await scene.journal.read(reply.id, id))?.events))
          const running = await readAll()
          expect(running[0]).toEqual(events)
          for (const id of ids) {
            expect(running[id]).toEqual(events.filter(({ seq, part }) => seq > id || (seq === id && part > 0)))
          }
          // Each event was a flush: half of them become a run.
          await scene.sql`
            select move_frames(${reply.instanceId}, ${reply.epoch}, max(num) - ${events.length >> 1}) from flushes`
          expect(await readAll()).toEqual(running)
          await scene.journal.settle(reply, finished())
          expect(await readAll()).toEqual(running)
        },
      ),
      { numRuns: 15 },
    )
  })

  verifies('contract-4.stored-before-shown', 'frames that are sent twice are stored once', async () => {
    const reply = await scene.begin(await scene.newSession())
    const events = [textAt(2, 'once'), toolCallAt(2, 1, 'c')]
    expect(await scene.journal.append(reply, () => events)).toBe('stored')
    expect(await scene.journal.append(reply, () => [...events, textAt(3, ' more')])).toBe('stored')
    expect((await scene.journal.read(reply.id, 0))?.events).toEqual([...events, textAt(3, ' more')])
  })

  verifies('contract-4.stored-before-shown', 'frames queued during a write are stored by one statement', async () => {
    const replies: ReplyInfo[] = []
    for (let i = 0; i < 20; i++) replies.push(await scene.begin(await scene.newSession()))
    const verdicts: Promise<string>[] = []
    // The instance's row is locked: the first flush waits for it, the others queue up.
    await scene.sql.begin(async (tx) => {
      await tx`select 1 from instances where id = ${scene.instance.id} for update`
      const [first, ...others] = replies
      if (!first) throw new Error('no reply')
      const appends = [scene.journal.append(first, () => [textAt(2, 'first')])]
      await expect.poll(scene.waiting).toBeGreaterThan(0)
      for (const reply of others) appends.push(scene.journal.append(reply, () => [textAt(2, 'together')]))
      verdicts.push(...appends)
    })
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['stored']))
    const [first, others] = await scene.sql<{ texts: string[] }[]>`
      select texts from flushes where session_nums && ${replies.map(({ sessionNum }) => sessionNum)}::bigint[] order by num`
    expect([first?.texts, others?.texts]).toEqual([['first'], Array.from({ length: 19 }, () => 'together')])
  })

  verifies('contract-4.stored-before-shown', 'settling twice keeps the first outcome', async () => {
    const reply = await scene.begin(await scene.newSession())
    await scene.journal.append(reply, () => [textAt(2, 'x')])
    const first = await scene.journal.settle(reply, finished({ title: 'One' }))
    expect(await scene.journal.settle(reply, failed())).toEqual(first)
    expect(await scene.journal.read(reply.id, 0)).toMatchObject({
      outcome: { type: 'finished', reason: 'stop', usage: { promptTokens: 3, completionTokens: 4, estimated: false } },
      events: [textAt(2, 'x')],
    })
  })

  verifies('contract-4.delete', 'settling a reply of a deleted session reports that', async () => {
    const session = await scene.newSession()
    const reply = await scene.begin(session)
    await scene.sql`select delete_sessions(${scene.agentId}, array[${session}::uuid])`
    expect(await scene.journal.settle(reply, finished())).toEqual({ result: 'gone' })
    expect(await scene.journal.read(reply.id, 0)).toBeNull()
  })

  verifies('contract-4.storage-outage', 'an empty failed reply reads as failed, with its message', async () => {
    const reply = await scene.begin(await scene.newSession())
    await scene.journal.settle(reply, failed())
    expect(await scene.journal.read(reply.id, 0)).toMatchObject({
      events: [],
      outcome: { type: 'failed', error: { code: 'provider_error', message: 'No.', detail: 'No, never.' } },
    })
    expect(await foldedRow(reply)).toMatchObject({ content: '', frame_ends: [], next_seq: 3 })
  })

  verifies('contract-4.history', 'history is the newest messages up to a position that fit, at least one', async () => {
    const session = await scene.newSession()
    for (const word of ['one', 'two', 'three']) {
      const reply = await scene.begin(session, { text: `${word}?` })
      await scene.journal.append(reply, () => [textAt(reply.firstSeq + 1, `${word}!`)])
      await scene.journal.settle(reply, finished())
    }
    const history = (end: number, bytes: number) =>
      scene.journal.history(session, end, { maxBytes: bytes, maxToolText: 100 })
    expect(await history(3, 1000)).toMatchObject({
      messages: [
        { position: 0, role: 'user', content: 'one?' },
        { position: 1, role: 'assistant', content: 'one!' },
        { position: 2, role: 'user', content: 'two?' },
        { position: 3, role: 'assistant', content: 'two!' },
      ],
      isWhole: true,
    })
    const newest = async (bytes: number) => {
      const { messages, isWhole } = await history(5, bytes)
      return [messages.map(({ content }) => content), isWhole]
    }
    expect(await newest(0)).toEqual([['three!'], false])
    expect(await newest(11)).toEqual([['three?', 'three!'], false])
  })
})

const toolsAt = (seq: number, count: number): StoredEvent[] =>
  Array.from({ length: count }, (_, index) => toolCallAt(seq, index + 1, `c${seq}.${index}`))
