/** The frame log's invariants (I2 and I3 of frame-log.ts), and resume by property (contract section 4). */
import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { indexAfter, StreamCut } from '../../../src/actors/reply/frame-log.ts'
import type { Frame, ReplyEvent } from '../../../src/actors/reply/reply-event.ts'
import { samples } from '../../support/samples.ts'
import { into } from '../../support/streams/take.ts'
import { verifies } from '../../verifies.ts'
import { framesOf } from '../scene.ts'
import { turn } from '../turn.ts'
import {
  close,
  collect,
  endedAt,
  finished,
  follow,
  heldJournal,
  info,
  openLog,
  settledAt,
  text,
} from './reply-log-scene.ts'

const events = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.string({ minLength: 1, unit: 'grapheme' }).map(text) },
    {
      weight: 1,
      arbitrary: fc.constant<ReplyEvent>({
        type: 'tool_call',
        id: 'c',
        name: 'n',
        arguments: '{}',
        startedAt: endedAt,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.constant<ReplyEvent>({ type: 'tool_result', id: 'c', ok: true, content: 'x', durationMs: 1 }),
    },
  ),
  { maxLength: 40 },
)

describe('I2: every reader sees the same frames after the same id', () => {
  verifies('contract-4.resume', 'random replies, batches, cuts and cursors, while running and after', async () => {
    const property = fc.asyncProperty(
      events,
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 60 }),
      fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 5 }),
      async (all, schedule, cursors) => {
        const journal = heldJournal()
        const log = openLog(journal.append)
        const readers = [{ after: 0, ...follow(log, 0) }]
        let step = 0
        for (const event of all) {
          log.push([event])
          const pace = schedule[step++ % schedule.length] ?? 0
          if (pace === 0) await journal.settle()
          const last = log.info.firstSeq + step
          if (pace === 1)
            readers.push({ after: last, ...follow(log, Math.min(last, readers[0]?.frames.at(-1)?.seq ?? 0)) })
        }
        while (journal.waiting.length > 0) await journal.settle()
        close(log)
        const whole = await collect(log, 0)
        for (const { done, frames } of readers) {
          await done
          expect(frames).toEqual(whole.slice(whole.length - frames.length))
        }
        const closingAt = whole.findIndex((frame) => frame.type === 'finished')
        const stored = { info, events: journal.stored, outcome: finished, endedAt, settledAt }
        expect(await framesOf(stored)).toEqual(whole)
        for (const after of cursors) {
          const expected = whole.slice(Math.min(indexAfter(whole, after), closingAt))
          expect(await collect(log, after)).toEqual(expected)
          expect(await framesOf(stored, after)).toEqual(expected)
        }
      },
    )
    await fc.assert(property, { numRuns: samples(60, 200) })
  })

  test('an id ahead of a running log waits at the live end', async () => {
    const log = openLog()
    const reader = follow(log, 999)
    log.push([text('a')])
    await turn()
    expect(reader.frames).toEqual([{ seq: 6, type: 'text', text: 'a' }])
  })

  test('a finished log always says how it ended, whatever the id', async () => {
    const log = openLog()
    log.push([text('a')])
    await log.stored()
    close(log)
    for (const after of [7, 8, 9, 1000]) {
      expect((await collect(log, after)).map((frame) => [frame.seq, frame.type])).toEqual([
        [7, 'finished'],
        [8, 'usage'],
        [9, 'done'],
      ])
    }
  })

  test('a thousand readers see one array of frames, the very same objects', async () => {
    const log = openLog()
    const readers = Array.from({ length: 1000 }, () => follow(log, 0))
    log.push([text('a')])
    await log.stored()
    close(log)
    await Promise.all(readers.map(({ done }) => done))
    const first = readers[0]?.frames ?? []
    for (const { frames } of readers) for (const [index, frame] of frames.entries()) expect(frame).toBe(first[index])
    expect(log.subscribers()).toBe(0)
  })
})

describe('I3: a log ends once', () => {
  test('cut: readers break off without a last frame, and a later close says nothing', async () => {
    const log = openLog()
    const reader = follow(log, 0)
    log.push([text('a')])
    await turn()
    log.cut()
    close(log)
    await expect(reader.done).rejects.toBeInstanceOf(StreamCut)
    expect(reader.frames.at(-1)).toEqual({ seq: 6, type: 'text', text: 'a' })
    expect(log.state()).toBe('cut')
  })

  test('drop: one last chunk, session_deleted, under the last shown id plus one', async () => {
    const journal = heldJournal()
    const log = openLog(journal.append)
    const reader = follow(log, 0)
    log.push([text('a')])
    await journal.settle()
    log.push([text('never stored')])
    log.drop()
    close(log)
    await journal.settle()
    await reader.done
    // Nor does it take what comes late: the answer of the write that was under way, and more of the model's words.
    log.push([text('late')])
    expect([await collect(log, 0), journal.waiting]).toEqual([reader.frames, []])
    expect(reader.frames.at(-1)).toMatchObject({ seq: 7, type: 'failed', error: { code: 'session_deleted' } })
    expect(reader.frames.filter((frame) => frame.type === 'failed')).toHaveLength(1)
  })

  test('drop: a reader that comes late, with whatever id, is told too', async () => {
    const log = openLog()
    log.push([text('a')])
    await log.stored()
    log.drop()
    for (const after of [6, 7, 1000])
      expect((await collect(log, after)).at(-1)).toMatchObject({ seq: 7, type: 'failed' })
  })

  test('a reader that leaves is let go at once, and leaves no listener behind', async () => {
    const log = openLog()
    const leaving = new AbortController()
    const listeners = () => getEventListeners(leaving.signal, 'abort').length
    const reader = follow(log, 0, leaving.signal)
    await turn()
    expect([log.subscribers(), listeners()]).toEqual([1, 1])
    leaving.abort()
    await reader.done
    expect([log.subscribers(), listeners()]).toEqual([0, 0])
    const late: Frame[] = []
    await log.read(0, leaving.signal, into(late))
    expect(late).toEqual([])
  })
})
