/**
 * JSON that a reply stores is read by later releases. The compiler holds each schema to its type; here a record of each
 * holds the schema to what is stored already.
 */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { eventSchemas } from '../../../../src/actors/reply/event-schema.ts'
import { type ReplyEventKind, replyEventKinds } from '../../../../src/actors/reply/reply-event.ts'
import { childOf } from '../../../../src/features/children/index.ts'
import { decodeStepDetail } from '../../../../src/features/traces/store/stored-detail.ts'
import {
  decodeFacts,
  decodeShownCalls,
  factsSchema,
  shownCallsSchema,
} from '../../../../src/persistence/replies/stored/stored-columns.ts'
import {
  decodeEvent,
  decodeEvents,
  decodeHistoryEvents,
} from '../../../../src/persistence/replies/stored/stored-events.ts'

// What was stored: to be added to, never changed.
const stored = JSON.parse(await readFile(new URL('../../fixtures/stored-json.json', import.meta.url), 'utf8'))

const without = (value: object, field: string) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== field))

/** Fields that tools add to events, by the kind. */
const addedFields: Partial<Record<ReplyEventKind, string[]>> = { tool_call: ['child'] }

test.each(replyEventKinds)('the event %s is read as it was stored, and its record has every field', (kind) => {
  const event = stored.events[kind]
  expect(Object.keys(event)).toEqual([...Object.keys(eventSchemas[kind].properties), ...(addedFields[kind] ?? [])])
  expect(decodeEvent(event)).toEqual(event)
  expect(decodeEvents([{ seq: 3, part: 1, event }])).toEqual([{ seq: 3, part: 1, event }])
})

test('the session that answers a call is read as it was stored', () => {
  const { child } = stored.events.tool_call
  expect(childOf(decodeEvent(stored.events.tool_call))).toEqual(child)
  const [call] = decodeHistoryEvents([{ end: 1, event: stored.events.tool_call }]) ?? []
  expect(childOf(call?.event ?? {})).toEqual(child)
})

test('facts, shown calls and details are read as they were stored, and their records have every field', () => {
  expect(Object.keys(stored.facts)).toEqual(Object.keys(factsSchema.properties))
  expect(Object.keys(stored.shownCalls[0])).toEqual(Object.keys(shownCallsSchema.items.properties))
  expect(decodeFacts(stored.facts)).toEqual(stored.facts)
  expect(decodeShownCalls(stored.shownCalls)).toEqual(stored.shownCalls)
  expect(decodeStepDetail(stored.detail)).toEqual(stored.detail)
  // An admission stores some facts, the settlement the others; null stands for none.
  expect(decodeFacts({ providerId: 'p', prompt: null, overrides: null })).toMatchObject({ providerId: 'p' })
  expect(decodeFacts({ firstTokenMs: null, durationMs: 1, attempts: 1 })).toMatchObject({ attempts: 1 })
  expect([decodeFacts(null), decodeShownCalls(null), decodeEvents(null), decodeHistoryEvents(null)]).toEqual([
    null,
    null,
    [],
    null,
  ])
})

test('what is not known is refused, and the error names it', () => {
  const { tool_result: result, model } = stored.events
  expect(() => decodeEvent({ ...result, type: 'tool_answer' })).toThrow('the type tool_answer, which is not known')
  expect(() => decodeEvent('text')).toThrow('the type undefined')
  expect(() => decodeEvent(without(result, 'content'))).toThrow(/event of the kind tool_result .* content/)
  expect(() => decodeEvents([{ seq: 1, part: 1, event: { ...model, model: 7 } }])).toThrow('/model must be string')
  expect(() => decodeEvents([{ frame: 1, part: 1, event: model }])).toThrow(/A list of events .* seq/)
  expect(() => decodeHistoryEvents([{ end: 1, event: model }])).toThrow('What tools were asked')
  expect(() => decodeFacts({ ...stored.facts, durationMs: '900' })).toThrow('/durationMs must be number')
  expect(() => decodeShownCalls([without(stored.shownCalls[0], 'name')])).toThrow(/calls that a reply shows .* name/)
  expect(() => decodeStepDetail({ code: { a: 1 } })).toThrow('/code')
})

test('what a later release added is let through', () => {
  const event = { ...stored.events.model, region: 'eu' }
  expect(decodeEvent(event)).toEqual(event)
})
