/** The chaos checker must detect every kind of violation: each is simulated once. */
import { describe, expect, test } from 'vitest'
import { type ModelCall, textOf, wordOf } from '../chaos-model.ts'
import { createWitness, newSessionSeen, type SessionSeen } from '../chaos-witness.ts'
import type { Send } from '../clients/chaos-requests.ts'
import { check, type Evidence, type StoredMessage } from './chaos-checker.ts'

const said = (call: number, ...ns: number[]): string => ns.map((n) => wordOf(call, n)).join('')
const bytesOf = (content: string): number[] =>
  [...content.matchAll(/\S+ /g)].map(({ index, 0: word }) => Buffer.byteLength(content.slice(0, index + word.length)))

const question = (position: number, marker: string): StoredMessage => ({
  id: `q-${position}`,
  session: 's',
  position,
  role: 'user',
  status: 'complete',
  content: textOf(marker),
  finish: null,
  code: null,
  firstSeq: null,
  frameEnds: null,
  includeUsage: null,
  seams: 0,
})
const reply = (position: number, firstSeq: number, content: string, more: object = {}): StoredMessage => ({
  id: `r-${position}`,
  session: 's',
  position,
  role: 'assistant',
  status: 'complete',
  content,
  finish: 'stop',
  code: null,
  firstSeq,
  frameEnds: bytesOf(content),
  includeUsage: false,
  seams: 0,
  ...more,
})
const call = (number: number, marker: string, words: number, more: object = {}): ModelCall => ({
  number,
  marker,
  turn: 0,
  words,
  end: 'stop',
  ...more,
})

const chunk = (replyId: string, delta: object, finish: string | null = null): string =>
  JSON.stringify({ id: `chatcmpl-${replyId}`, choices: [{ index: 0, delta, finish_reason: finish }] })
const role = (replyId: string) => chunk(replyId, { role: 'assistant' })
const text = (replyId: string, content: string) => chunk(replyId, { content })
const finish = (replyId: string) => chunk(replyId, {}, 'stop')
const failed = (code: string) => JSON.stringify({ error: { code } })

/** Frames on one connection, with consecutive ids. */
function stream(
  session: SessionSeen,
  after: number | 'ahead',
  first: number,
  data: string[],
  witness = createWitness(),
) {
  const watch = witness.watch(session, after)
  for (const [n, one] of data.entries()) watch.take({ id: `${first + n}`, event: undefined, data: one })
  return { watch, witness, rules: () => witness.violations.map(({ rule }) => rule) }
}

interface Scene extends Evidence {
  session: SessionSeen
  sends: Send[]
  calls: ModelCall[]
  rows: StoredMessage[]
}

/** Two messages with complete replies, all of it seen: no violation. */
function honest(): Scene {
  const session = newSessionSeen('s')
  const rows = [
    question(0, 'm1.10'),
    reply(1, 1, said(1, 1, 2)),
    question(2, 'm1.20'),
    reply(3, 6, said(2, 1) + said(3, 1, 2), { includeUsage: true }),
  ]
  stream(session, 0, 1, [role('r-1'), text('r-1', said(1, 1)), text('r-1', said(1, 2)), finish('r-1'), '[DONE]'])
  stream(session, 5, 6, [role('r-3'), text('r-3', said(2, 1)), text('r-3', said(3, 1))])
  const send = (marker: string, replyId: string): Send => ({
    marker,
    session,
    key: null,
    tries: [{ outcome: 'accepted', status: 200, reply: replyId, content: null }],
  })
  return {
    session,
    sessions: [session],
    rows,
    stored: new Map([['s', rows]]),
    sends: [send('m1.10', 'r-1'), send('m1.20', 'r-3')],
    calls: [call(1, 'm1.10', 2), call(2, 'm1.20', 1, { end: 'tool' }), call(3, 'm1.20', 2, { turn: 1 })],
  }
}

const first = <T>(all: readonly T[]): T => {
  const [one] = all
  if (one === undefined) throw new Error('none')
  return one
}

describe('what is stored', () => {
  test('a correct run has no violation', () => {
    expect(check(honest())).toEqual([])
  })

  test('a later call may go on with a turn, once at each seam', () => {
    const { session, rows, calls, ...scene } = honest()
    session.frames.clear()
    calls.splice(0, 1, call(1, 'm1.10', 4, { end: 'left' }), call(4, 'm1.10', 1))
    rows.splice(1, 1, reply(1, 1, said(1, 1) + said(4, 1), { seams: 1 }))
    expect(check({ ...scene, calls })).toEqual([])
    Object.assign(rows[1] ?? {}, { seams: 0 })
    expect(check({ ...scene, calls }).map(({ rule }) => rule)).toEqual(['generated-once', 'words'])
  })

  const lies: Record<string, [rule: string, (scene: Scene) => void]> = {
    'an accepted message is not stored': ['stored-once', ({ rows }) => rows.splice(2, 2)],
    'a message is stored twice': ['stored-once', ({ rows }) => void rows.push(question(4, 'm1.10'), reply(5, 13, ''))],
    'a message came from nobody': ['stored-once', ({ rows }) => void rows.push(question(4, 'm9.90'), reply(5, 13, ''))],
    'a refused message is stored': [
      'refused',
      ({ sends }) => Object.assign(first(first(sends).tries), { outcome: 'refused' }),
    ],
    'a key joined another reply': [
      'one-reply',
      ({ sends }) => Object.assign(first(first(sends).tries), { reply: 'r-3' }),
    ],
    'an answer in one piece had other words': [
      'whole',
      ({ sends }) => Object.assign(first(first(sends).tries), { content: said(1, 1) }),
    ],
    'a question has no reply': ['order', ({ rows }) => rows.splice(3, 1)],
    'ids have a gap between replies': ['ids', ({ rows }) => Object.assign(rows[3] ?? {}, { firstSeq: 7 })],
    'a frame that was shown is missing': [
      'shown-is-stored',
      ({ rows }) => Object.assign(rows[1] ?? {}, reply(1, 1, said(1, 1))),
    ],
    'a frame was shown under another reply': [
      'shown-is-stored',
      ({ session }) => Object.assign(session.frames.get(2) ?? {}, { reply: 'r-3' }),
    ],
    'a reply never settles': [
      'settled',
      ({ rows }) => Object.assign(rows[3] ?? {}, { status: 'streaming', finish: null }),
    ],
    'status and finish reason do not fit': ['outcome', ({ rows }) => Object.assign(rows[1] ?? {}, { finish: 'error' })],
    'nobody cancelled': ['outcome', ({ rows }) => Object.assign(rows[1] ?? {}, { finish: 'cancelled' })],
    'the provider did not fail': [
      'outcome',
      ({ rows }) => Object.assign(rows[1] ?? {}, { status: 'error', finish: 'error', code: 'provider_error' }),
    ],
    'the model was asked twice and spoke twice': [
      'generated-once',
      ({ calls }) => void calls.push(call(4, 'm1.10', 1)),
    ],
    'words of two calls are mixed': [
      'words',
      ({ rows }) => Object.assign(rows[1] ?? {}, { content: said(1, 1) + said(2, 1) }),
    ],
    'words are out of order': ['words', ({ rows }) => Object.assign(rows[1] ?? {}, { content: said(1, 2, 1) })],
    'a word is missing in the middle': ['words', ({ calls }) => Object.assign(calls[1] ?? {}, { words: 2 })],
    'words that nobody said': ['words', ({ calls }) => Object.assign(calls[0] ?? {}, { words: 1 })],
    'a whole reply lacks its last word': ['whole', ({ calls }) => Object.assign(calls[0] ?? {}, { words: 3 })],
    'a reply of a model that broke off is called whole': [
      'whole',
      ({ calls }) => Object.assign(calls[0] ?? {}, { end: 'broke' }),
    ],
    'a deleted session is still there': ['deleted', ({ session }) => Object.assign(session, { deletion: 'done' })],
    'a list had other words': [
      'listed-is-stored',
      ({ session }) => {
        const listed = { id: 'r-1', role: 'assistant', content: 'x', status: 'streaming', finish_reason: null }
        session.messages.set('r-1', listed)
      },
    ],
  }
  test.each(Object.entries(lies))('%s', (_, [rule, tell]) => {
    const scene = honest()
    tell(scene)
    expect(check(scene).map((violation) => violation.rule)).toContain(rule)
  })
})

describe('what clients see', () => {
  const whole = [role('r'), text('r', 'a'), text('r', 'b'), finish('r'), '[DONE]']
  const seen = () => newSessionSeen('s')

  test('streams, resumes and replays of a finished reply from any id agree', () => {
    const [session, witness] = [seen(), createWitness()]
    stream(session, 0, 1, whole, witness).watch.ended()
    for (let after = 0; after < 3; after++) stream(session, after, after + 1, whole.slice(after), witness).watch.ended()
    for (const after of [3, 4, 5]) stream(session, after, 4, whole.slice(3), witness).watch.ended()
    stream(session, 5, 6, [role('later')], witness)
    stream(session, 3, 6, [role('later')], witness)
    stream(session, 'ahead', 6, [role('later')], witness)
    expect(witness.violations).toEqual([])
  })

  const lies: Record<string, [rule: string, () => ReturnType<typeof stream>]> = {
    'an id is skipped': [
      'ids',
      () => {
        const told = stream(seen(), 0, 1, whole.slice(0, 2))
        told.watch.take({ id: '4', event: undefined, data: finish('r') })
        return told
      },
    ],
    'an id comes twice': [
      'ids',
      () => {
        const told = stream(seen(), 0, 1, whole.slice(0, 2))
        told.watch.take({ id: '2', event: undefined, data: text('r', 'a') })
        return told
      },
    ],
    'a resume leaves something out': ['ids', () => stream(seen(), 1, 3, [text('r', 'b')])],
    'a resume repeats what was seen': ['ids', () => stream(seen(), 2, 2, [text('r', 'a')])],
    'the same id has other bytes': [
      'same-bytes',
      () => {
        const session = seen()
        const { witness } = stream(session, 0, 1, whole)
        return stream(session, 1, 2, [text('r', 'A')], witness)
      },
    ],
    'two replies on one connection': ['mixed', () => stream(seen(), 0, 1, [role('r'), text('other', 'a')])],
    'more after [DONE]': ['end', () => stream(seen(), 0, 1, [...whole, role('r')])],
    'more after an error': ['end', () => stream(seen(), 0, 1, [role('r'), failed('internal'), text('r', 'a')])],
    'a stream that looks finished': [
      'end',
      () => {
        const told = stream(seen(), 0, 1, whole.slice(0, 3))
        told.watch.ended()
        return told
      },
    ],
    'a stream that nobody ends': [
      'silent',
      () => {
        const told = stream(seen(), 0, 1, whole.slice(0, 3))
        told.watch.silent(14_000)
        return told
      },
    ],
    'a session that nobody deleted': ['deleted', () => stream(seen(), 0, 1, [role('r'), failed('session_deleted')])],
    'a frame that is none': ['frame', () => stream(seen(), 0, 1, ['{"choices":[{"delta":{},"finish_reason":null}]}'])],
  }
  test.each(Object.entries(lies))('%s', (_, [rule, tell]) => {
    expect(tell().rules()).toContain(rule)
  })

  const message = (content: string, status = 'streaming', finish_reason: string | null = null) => ({
    id: 'r',
    role: 'assistant',
    content,
    status,
    finish_reason,
  })
  const lists = (...contents: ReturnType<typeof message>[][]) => {
    const [session, witness] = [seen(), createWitness()]
    stream(session, 0, 1, whole.slice(0, 3), witness)
    for (const one of contents) witness.list(session)(one)
    return witness.violations.map(({ rule }) => rule)
  }

  test('lists that grow and then stay unchanged are correct', () => {
    const settled = message('abcd', 'error', 'error')
    expect(lists([message('ab')], [message('abc')], [settled], [settled])).toEqual([])
  })
  test.each([
    ['less than was shown', 'stored-before-shown', [[message('a')]]],
    ['other words than were shown', 'stored-before-shown', [[message('xy')]]],
    ['content that gets shorter', 'only-grows', [[message('abc')], [message('ab')]]],
    [
      'content that changes after the end',
      'only-grows',
      [[message('ab', 'complete', 'stop')], [message('abc', 'complete', 'stop')]],
    ],
    ['another outcome', 'only-grows', [[message('ab', 'complete', 'stop')], [message('ab', 'error', 'error')]]],
    ['a message that is gone', 'messages', [[message('ab')], []]],
  ])('%s', (_, rule, contents) => {
    expect(lists(...contents)).toContain(rule)
  })
  test('a list requested before something was shown may lack it', () => {
    const [session, witness] = [seen(), createWitness()]
    const answer = witness.list(session)
    stream(session, 0, 1, whole.slice(0, 3), witness)
    answer([message('a')])
    expect(witness.violations).toEqual([])
  })
})
