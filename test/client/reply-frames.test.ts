/** Frames → events: what was read before is not read again, and what belongs to another reply is not taken. */
import { expect, test } from 'vitest'
import { frameReader, newPlace } from '../../packages/client/src/session/reply-frames.ts'

const chunk = (id: number, delta: object, reply = 'r1', reason: string | null = null) => ({
  id: String(id),
  data: JSON.stringify({ id: `chatcmpl-${reply}`, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] }),
})
const named = (event: string, data: object) => ({ event, data: JSON.stringify(data) })
const call = named('tool_call', { id: 'c1', name: 'look', arguments: '{}' })
const result = named('tool_result', { id: 'c1', ok: true, content: 'seen', durationMs: 3 })
const done = (id: number) => ({ id: String(id), data: '[DONE]' })

test('numbered frames that come again are passed over, closing ones too', () => {
  const place = newPlace(null, 0)
  const first = frameReader(place)
  expect(
    [chunk(5, { role: 'assistant' }), chunk(6, { content: 'a' }), chunk(7, {}, 'r1', 'length')].map(first),
  ).toEqual([{ type: 'started', messageId: 'r1', model: 'm' }, { type: 'text', text: 'a' }, null])
  const second = frameReader(place)
  expect([chunk(6, { content: 'a' }), chunk(7, {}, 'r1', 'length'), done(8)].map(second)).toEqual([
    null,
    null,
    { type: 'finished', reason: 'length', usage: null },
  ])
  expect(place).toMatchObject({ text: 'a', lastEventId: 8, ended: true })
})

test('named events behind the last number come again, and are passed over as often as they were read', () => {
  const place = newPlace(null, 0)
  const types = (events: ({ type: string } | null)[]) => events.map((event) => event?.type ?? null)
  const state = named('state', { state: 'streaming.generating', at: '' })
  expect(types([chunk(1, { role: 'assistant' }), state, call].map(frameReader(place)))).toEqual([
    'started',
    null,
    'tool_call',
  ])
  expect(types([state, call, result].map(frameReader(place)))).toEqual([null, null, 'tool_result'])
  const rest = [state, call, result, call, chunk(2, { content: 'a' }), call]
  expect(types(rest.map(frameReader(place)))).toEqual([null, null, null, 'tool_call', 'text', 'tool_call'])
})

test('a call names the session that answers it, where an agent does', () => {
  const child = { agentId: 'a1', sessionId: 's1' }
  const asked = named('tool_call', { id: 'c2', name: 'ask', arguments: '{}', child })
  expect([call, asked].map(frameReader(newPlace('r1', 1)))).toEqual([
    { type: 'tool_call', id: 'c1', name: 'look', arguments: '{}' },
    { type: 'tool_call', id: 'c2', name: 'ask', arguments: '{}', child },
  ])
})

test('a reply that was resumed at its end knows why it ended', () => {
  const read = frameReader(newPlace('r1', 7))
  expect([chunk(7, {}, 'r1', 'content_filter'), done(8)].map(read)).toEqual([
    null,
    { type: 'finished', reason: 'content_filter', usage: null },
  ])
})

test('frames of another reply end the reading and move nothing', () => {
  const place = newPlace('r1', 7)
  expect(frameReader(place)(chunk(9, { role: 'assistant' }, 'r2'))).toBeNull()
  expect(place).toMatchObject({ superseded: true, messageId: 'r1', lastEventId: 7 })
})

test('cancelled is what the playground tells before its numbered frames say stop', () => {
  const read = frameReader(newPlace('r1', 1))
  expect(
    [named('state', { state: 'cancelled', at: '' }), chunk(2, {}, 'r1', 'stop'), done(3)].map(read).at(-1),
  ).toEqual({
    type: 'finished',
    reason: 'cancelled',
    usage: null,
  })
})

test('words of a later server: unknown events are nothing, an unknown code is told as such', () => {
  const read = frameReader(newPlace('r1', 1))
  expect(read(named('weather', {}))).toBeNull()
  const error = { id: '2', data: JSON.stringify({ error: { code: 'new_code', message: 'Something.', param: null } }) }
  expect(() => read(error)).toThrow(expect.objectContaining({ code: 'unknown', message: 'Something.' }))
})
