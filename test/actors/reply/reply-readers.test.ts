/** Readers of a reply are handed frames by calls (`Reply.read`): when they are held, fail, leave, or come late. */
import { expect, test, vi } from 'vitest'
import type { ReplyInfo } from '../../../src/actors/ports/index.ts'
import { createFrameLog, type FrameLog, StreamCut } from '../../../src/actors/reply/frame-log.ts'
import type { Frame, ReplyEvent, StoredEvent } from '../../../src/actors/reply/reply-event.ts'
import { createReplyLog } from '../../../src/actors/reply/reply-log.ts'
import { completionHead, createFrameEncoder, sessionFrame } from '../../../src/http/wires/chat/completion-frames.ts'
import { into } from '../../support/streams/take.ts'

const info: ReplyInfo = {
  id: 'r',
  sessionId: 's',
  sessionNum: 1,
  firstSeq: 1,
  model: 'm',
  createdAt: '2026-01-01T00:00:00.000Z',
  includeUsage: false,
  instanceId: 'i',
  epoch: 1,
}
const usage = { promptTokens: 1, completionTokens: 2, estimated: false }
const ended = {
  outcome: { type: 'finished', reason: 'stop', usage } as const,
  endedAt: '2026-01-01T00:00:01.000Z',
  settledAt: '2026-01-01T00:00:02.000Z',
}
const never = new AbortController().signal
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Texts of one letter each, behind the opening frames. */
function openLog() {
  const log = createFrameLog(info)
  let seq = info.firstSeq
  const say = (letters: string) => {
    for (const text of letters) log.push([{ seq: ++seq, part: 0, event: { type: 'text', text } }])
  }
  return { log, say }
}

const shapeOf = (frame: Frame) => (frame.type === 'text' ? frame.text : frame.type)
const texts = (batches: readonly (readonly Frame[])[]) =>
  batches.map((batch) => batch.flatMap((frame) => (frame.type === 'text' ? [frame.text] : [])).join(''))

/** A reader that has room for one batch, and for the next when the test lets it go on. */
function heldReader(log: FrameLog, signal = never) {
  const batches: (readonly Frame[])[] = []
  let hold = Promise.withResolvers<void>()
  const done = log.read(1, signal, (batch) => {
    batches.push(batch)
    hold = Promise.withResolvers<void>()
    return hold.promise
  })
  done.catch(() => {})
  const goOn = async () => {
    hold.resolve()
    await turn()
  }
  return { batches, done, goOn, fail: (error: Error) => hold.reject(error) }
}

/** A reader that takes all; `broken` once it has rejected. */
function freeReader(log: FrameLog) {
  const frames: Frame[] = []
  const done = log.read(0, never, into(frames))
  return { frames, done, shapes: () => frames.filter(({ type }) => type !== 'state').map(shapeOf) }
}

test('a reader that is held gets nothing until it goes on, then all that came meanwhile, in order, once', async () => {
  const { log, say } = openLog()
  const reader = heldReader(log)
  await reader.goOn() // past the state
  say('a')
  say('bcd')
  await turn()
  expect(texts(reader.batches)).toEqual(['', 'a'])
  await reader.goOn()
  expect(texts(reader.batches)).toEqual(['', 'a', 'bcd'])
  await reader.goOn() // nothing came
  say('e')
  log.close(ended)
  await reader.goOn()
  expect(reader.batches.at(-1)?.map(({ type }) => type)).toEqual(['state', 'state', 'finished', 'done'])
  expect(texts(reader.batches).join('')).toBe('abcde')
  let isDone = false
  void reader.done.then(() => {
    isDone = true
  })
  await turn()
  expect(isDone).toBe(false) // the last batch is still on its way
  await reader.goOn()
  await reader.done
  expect(log.subscribers()).toBe(0)
})

test.each(['throws', 'rejects'])('a reader whose take %s ends alone, with that error, at once', async (how) => {
  const { log, say } = openLog()
  const [first, error] = [freeReader(log), new Error('mine')]
  const take = vi.fn((batch: readonly Frame[]) => {
    if (batch.every(({ type }) => type !== 'text')) return undefined
    if (how === 'throws') throw error
    return Promise.reject(error)
  })
  const failing = expect(log.read(0, never, take)).rejects.toBe(error)
  const last = freeReader(log)
  say('abc') // in one turn: the one that failed is called for none but the first
  await failing
  say('d')
  log.close(ended)
  await Promise.all([first.done, last.done])
  expect(take).toHaveBeenCalledTimes(2)
  for (const reader of [first, last]) {
    expect(reader.shapes()).toEqual(['started', 'a', 'b', 'c', 'd', 'finished', 'done'])
  }
  expect(log.subscribers()).toBe(0)
})

test('a reader that fails at its first batch, or when it goes on, ends too', async () => {
  const { log, say } = openLog()
  const error = new Error('mine')
  const failing = () => {
    throw error
  }
  await expect(log.read(0, never, failing)).rejects.toBe(error)
  let calls = 0
  const later = log.read(0, never, () => {
    calls += 1
    if (calls === 2) throw error
    return Promise.resolve()
  })
  say('a')
  await expect(later).rejects.toBe(error)
  expect(log.subscribers()).toBe(0)
})

test('a reader that leaves while it is held is let go at once, and is handed nothing afterwards', async () => {
  for (const end of ['goOn', 'fail'] as const) {
    const { log, say } = openLog()
    const leaving = new AbortController()
    const reader = heldReader(log, leaving.signal)
    say('a')
    leaving.abort()
    await reader.done
    expect(log.subscribers()).toBe(0)
    reader[end](new Error('too late'))
    say('b')
    log.close(ended)
    await turn()
    expect(texts(reader.batches)).toEqual([''])
  }
})

test('a log that is cut while a reader is held breaks off behind the hold, with what came before', async () => {
  const { log, say } = openLog()
  const reader = heldReader(log)
  say('a')
  log.cut()
  let broken: unknown = null
  reader.done.catch((error: unknown) => {
    broken = error
  })
  await turn()
  expect(broken).toBeNull()
  await reader.goOn()
  expect([texts(reader.batches), broken]).toEqual([['', 'a'], null])
  await reader.goOn()
  await expect(reader.done).rejects.toBeInstanceOf(StreamCut)
})

test('readers at the live end get the text of a frame, late ones the same, nobody leaves any behind', async () => {
  const { log, say } = openLog()
  const encoder = createFrameEncoder(completionHead(info))
  const all: Frame[] = []
  const reader = (after: number) => {
    const wires: string[] = []
    const done = log.read(after, never, (batch) => {
      for (const frame of batch) {
        if (!all.includes(frame)) all.push(frame)
        wires.push(sessionFrame(encoder, frame))
      }
      return undefined
    })
    return { wires, done }
  }
  const left = () => all.filter(({ wire }) => wire !== undefined).map(shapeOf)
  const live = [reader(0), reader(0)]
  const held = heldReader(log)
  say('aé€😀')
  expect([all.length, left()]).toEqual([6, []])
  const late = [reader(0), reader(0)]
  expect(left()).toEqual([])
  say('z')
  log.close(ended)
  const last = reader(0)
  await held.goOn()
  await held.goOn()
  await Promise.all([...live, ...late, last].map(({ done }) => done))
  expect([all.length, left()]).toEqual([11, []])
  const [first, second] = live
  const isText = (wire: string) => wire.includes('"content"')
  expect(first?.wires.filter(isText)).toHaveLength(5)
  for (const [index, wire] of first?.wires.entries() ?? []) if (index > 1) expect(second?.wires[index]).toBe(wire)
  for (const { wires } of [...late, last]) expect(wires).toEqual(first?.wires)
  expect(last.wires.join('')).toContain('id: 5\ndata: ')
})

test('what a reply log said is what was appended, before and after its end, not what nobody could store', async () => {
  const stored: unknown[] = []
  const log = createReplyLog(info, {
    async append(_, take) {
      const events = take()
      if (events.some(({ event }) => event.type === 'text' && event.text === 'bad')) return 'refused'
      stored.push(...structuredClone(events))
      return 'stored'
    },
    withdraw() {},
    onStored() {},
    onRefused() {},
  })
  const call: ReplyEvent = { type: 'tool_call', id: 'c', name: 'n', arguments: '{}', startedAt: ended.endedAt }
  const result: ReplyEvent = { type: 'tool_result', id: 'c', ok: true, content: 'x', durationMs: 1 }
  const encoder = createFrameEncoder(completionHead(info))
  const reading = log.read(0, never, (batch) => {
    for (const frame of batch) sessionFrame(encoder, frame)
    return undefined
  })
  for (const event of [call, { type: 'text', text: 'a' } as const, call, result]) {
    log.push([event])
    await log.stored()
  }
  log.push([{ type: 'text', text: 'bad' }])
  await log.stored()
  expect(stored).toMatchObject([
    { seq: 1, part: 1 },
    { seq: 2, part: 0 },
    { seq: 2, part: 1 },
    { seq: 2, part: 2 },
  ])
  expect(log.events()).toStrictEqual(stored)
  log.close(ended)
  await reading
  expect(log.events()).toStrictEqual(stored)
})

test('what comes while an append waits for its turn goes along with it', async () => {
  const appends: { take(): readonly StoredEvent[]; answer(how: 'stored'): void }[] = []
  const log = createReplyLog(info, {
    append: (_, take) => new Promise((answer) => appends.push({ take, answer })),
    withdraw() {},
    onStored() {},
    onRefused() {},
  })
  const frames: Frame[] = []
  void log.read(0, never, into(frames))
  for (const text of ['a', 'b']) log.push([{ type: 'text', text }])
  expect(appends[0]?.take()).toEqual([{ seq: 2, part: 0, event: { type: 'text', text: 'ab' } }])
  log.push([{ type: 'text', text: 'c' }])
  appends[0]?.answer('stored')
  await turn()
  expect(frames.map(shapeOf)).toEqual(['started', 'state', 'ab'])
  expect(appends[1]?.take()).toEqual([{ seq: 3, part: 0, event: { type: 'text', text: 'c' } }])
})
