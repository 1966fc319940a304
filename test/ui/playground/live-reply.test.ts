/** A running reply in the playground, and how it lies over what is stored (contract sections 12, 14 and 30). */
import { describe, expect, test } from 'vitest'
import {
  type LiveEvent,
  type LiveReply,
  newReply,
  shownMessages,
  withEvents,
} from '../../../ui/src/playground/connection/live-reply.ts'
import { conversationOf, pathTo } from '../../../ui/src/playground/transcript/branches.ts'

const now = '2026-01-01T00:00:00.000Z'
type Stored = Parameters<typeof conversationOf>[0][number]
const message = (id: string, parentId: string | null, more: Partial<Stored> = {}): Stored => ({
  ...{ id, parentId, sessionId: 's', role: 'assistant', content: '', status: 'complete', finishReason: 'stop' },
  ...{ error: null, toolCalls: [], createdAt: now },
  ...more,
})
const user = (id: string, parentId: string | null, content = id): Stored =>
  message(id, parentId, { role: 'user', content, finishReason: null })

const text = (words: string): LiveEvent => ({ type: 'text', text: words })
const thought = (words: string): LiveEvent => ({ type: 'reasoning', text: words })
const called = (id: string): LiveEvent => ({ type: 'tool_call', id, name: 'look', arguments: '{}' })
const result = (id: string, ok: boolean | null): LiveEvent => ({
  ...{ type: 'tool_result', id, ok, content: ok === null ? null : 'found', durationMs: 7 },
})
const started: LiveEvent = { type: 'started', messageId: 'r', model: 'm' }

describe('what its events make', () => {
  test('texts are added up, calls stand where they were made, and a result belongs to its own call', () => {
    const reply = withEvents(
      newReply('Hi', now),
      [
        started,
        text('One'),
        called('a'),
        called('b'),
        result('b', false),
        text(' two.'),
        { type: 'finished', reason: 'length', usage: null },
      ],
      0,
    )
    expect(reply).toMatchObject({ id: 'r', content: 'One two.', status: 'complete', finishReason: 'length' })
    expect(
      reply.toolCalls.map(({ id, offset, ok, content, durationMs }) => [id, offset, ok, content, durationMs]),
    ).toEqual([
      ['a', 3, null, null, null],
      ['b', 3, false, 'found', 7],
    ])
    const failed = withEvents(reply, [{ type: 'failed', error: { code: 'internal', message: 'Gone.' } }], 0)
    expect(failed).toMatchObject({
      status: 'error',
      finishReason: 'error',
      error: { code: 'internal' },
      content: 'One two.',
    })
  })

  test('thinking is measured to what follows it, each time anew, and not where its beginning was not seen', () => {
    const at = (reply: LiveReply, ms: number, ...events: LiveEvent[]) => withEvents(reply, events, ms)
    const think = (userText: string | null) => {
      const first = at(at(newReply(userText, now), 100, thought('Hm'), started), 130, thought('m.'))
      expect([first.thinkingSince, first.reasoningMs, first.reasoning]).toEqual([100, null, 'Hmm.'])
      return at(at(at(first, 400, text('A')), 1000, thought('Or')), 1050, called('a'))
    }
    expect(think('Hi')).toMatchObject({ thinkingSince: null, reasoningMs: 350 })
    expect(think(null)).toMatchObject({ thinkingSince: null, reasoningMs: null })
  })
})

describe('what is shown of it', () => {
  const talk = [user('u', null), message('r', 'u', { content: 'Hello.' })]
  const ids = (live: LiveReply | null, messages: readonly Stored[] = talk, head = messages.at(-1)?.id ?? null) =>
    shownMessages(conversationOf(messages, head), live).map(({ id, content }) => id ?? content)
  const sent = (how: Parameters<typeof newReply>[2] = {}) => ({ ...newReply('More', now, how), content: 'Yes.' })

  test('a new message and its reply stand behind the last one, or behind the one that it was sent behind', () => {
    expect(ids(null)).toEqual(['u', 'r'])
    expect(ids(sent())).toEqual(['u', 'r', 'More', 'Yes.'])
    expect(ids(sent({ behind: 'r' }))).toEqual(['u', 'r', 'More', 'Yes.'])
    expect(ids(sent({ behind: 'u' }))).toEqual(['u', 'More', 'Yes.'])
    expect(ids(sent({ behind: null }))).toEqual(['More', 'Yes.'])
    expect(ids({ ...newReply(null, now, { behind: 'u' }), content: 'Again.' })).toEqual(['u', 'Again.'])
  })

  test('a reply that is joined is the stored one, and one of another branch is not shown', () => {
    expect(ids(newReply(null, now))).toEqual(['u', 'r'])
    const branches = [...talk, message('other', 'u')]
    expect(ids({ ...sent(), id: 'r' }, branches, 'other')).toEqual(['u', 'other'])
    expect(ids({ ...sent(), id: 'unknown' }, branches, 'other')).toEqual(['u', 'other', 'More', 'unknown'])
  })

  test('while it runs, the longer of what is stored and what came is shown, and nothing gets shorter', () => {
    const calls = (count: number) =>
      Array.from({ length: count }, (_, n) => ({
        ...{ id: `${n}`, name: 'look', arguments: '{}', offset: 0, ok: null, content: null },
        ...{ startedAt: null, durationMs: null },
      }))
    const shown = (stored: Partial<Stored>, live: Partial<LiveReply>) => {
      const running = message('r', 'u', { status: 'streaming', finishReason: null, ...stored })
      const reply = { ...newReply(null, now), id: 'r', ...live }
      return shownMessages(conversationOf([user('u', null), running], 'r'), reply).at(-1)
    }
    const longer = { content: 'abcd', reasoning: 'why so', toolCalls: calls(2) }
    const shorter = { content: 'ab', reasoning: 'why', toolCalls: calls(1) }
    expect(shown(shorter, longer)).toMatchObject(longer)
    expect(shown(longer, shorter)).toMatchObject(longer)
    expect(shown({}, { status: 'error', finishReason: 'error', error: { code: 'x', message: 'y' } })).toMatchObject({
      ...{ status: 'error', error: { code: 'x' } },
    })
    // What is stored with its outcome is the reply.
    const ended = { status: 'complete', finishReason: 'stop' } as const
    expect(shown({ ...shorter, ...ended }, { ...longer, reconnectedAt: [1] })).toMatchObject({
      ...{ ...shorter, ...ended, reconnectedAt: [1] },
    })
    expect(shown({ ...shorter, ...ended }, longer)).not.toHaveProperty('reconnectedAt')
  })
})

describe('the tree of messages', () => {
  const tree = [
    user('a', null),
    message('1', 'a'),
    message('2', 'a'),
    user('b', '2'),
    user('a2', null),
    message('3', 'a2'),
  ]

  test('a path ends at its head, and names at each place the messages of the same role beside it', () => {
    const { path, ids } = conversationOf(tree, 'b')
    expect(path.map(({ id, beside }) => [id, beside])).toEqual([
      ['a', ['a', 'a2']],
      ['2', ['1', '2']],
      ['b', ['b']],
    ])
    expect(ids).toEqual(['a', '1', '2', 'b', 'a2', '3'])
    // A copy of a reply beside a message of its user's: no branches of each other.
    expect(conversationOf([...tree, user('c', 'a')], '1').path.at(-1)?.beside).toEqual(['1', '2'])
  })

  test('a head that was not read yet is the newest, and a parent that is missing begins the path', () => {
    expect(conversationOf(tree, 'newer').path.map(({ id }) => id)).toEqual(['a2', '3'])
    expect(conversationOf([], null).path).toEqual([])
    expect(pathTo(tree.slice(3), 'b').map(({ id }) => id)).toEqual(['b'])
  })
})
