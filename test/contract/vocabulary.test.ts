/**
 * The lists of reply-event.ts against their copies: the contract, the client and the database's constraints stand apart
 * from the server's code, each written once more. (Contract sections 3, 4 and 5.)
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import openapi from '../../openapi/openapi.json' with { type: 'json' }
import type { ReplyEvent as ClientEvent, WebhookEvent } from '../../packages/client/src/index.ts'
import { type FinishReason as ClientReason, codeOf, reasonOf } from '../../packages/client/src/session/reply-frames.ts'
import type { ReplyInfo } from '../../src/actors/ports/index.ts'
import { createFrameLog } from '../../src/actors/reply/frame-log.ts'
import {
  finishReasons,
  intentKinds,
  isNumberedKind,
  messageStatuses,
  type ReplyEvent,
  type ReplyEventKind,
  replyErrorCodes,
  replyEventKinds,
  restStateOf,
  type StoredEvent,
  wireReason,
} from '../../src/actors/reply/reply-event.ts'
import { createReplyLog } from '../../src/actors/reply/reply-log.ts'
import { decode, encode, eventsOf, storedMessage } from '../../src/coordination/redis/wire.ts'
import {
  completionHead,
  createFrameEncoder,
  playgroundFrame,
  statelessFrame,
} from '../../src/http/wires/chat/completion-frames.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { verifies } from '../verifies.ts'

const sorted = (list: readonly unknown[]) => [...new Set(list)].toSorted()

/** Every `enum` (or `const`) under a property of this name, anywhere in the contract; null, where it is allowed, left out. */
function enumsOf(name: string, node: unknown = openapi): unknown[][] {
  if (Array.isArray(node)) return node.flatMap((one) => enumsOf(name, one))
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => [
    ...(key === name && JSON.stringify(value).includes('"enum"') ? [valuesIn(value)] : []),
    ...enumsOf(name, value),
  ])
}

function valuesIn(schema: unknown): unknown[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    if (key === 'enum' && Array.isArray(value)) return value.filter((one) => one !== null)
    return key === 'anyOf' && Array.isArray(value) ? value.flatMap(valuesIn) : []
  })
}

/** `model` shows in the chunks behind it alone, `tool_begun` and `tool_asked` in nothing. */
const shownKinds = replyEventKinds.filter(
  (kind) => kind !== 'model' && kind !== 'tool_begun' && kind !== 'tool_asked' && kind !== 'tool_unknown',
)

describe('the contract', () => {
  verifies('contract-4.cancel', 'messages carry each finish reason, and `error`', () => {
    const ofMessages = enumsOf('finishReason').filter((list) => !list.includes('content-filter')) // the AI SDK's own words
    for (const list of ofMessages) expect(sorted(list)).toEqual(sorted([...finishReasons, 'error']))
    expect(ofMessages.length).toBeGreaterThan(0)
    expect(enumsOf('finish_reason').map(sorted)).toContainEqual(sorted([...finishReasons, 'error']))
  })

  verifies('contract-3.finish-reason', 'chunks and completions carry what each finish reason reads as', () => {
    const wire = sorted(finishReasons.map((reason) => wireReason(reason, true)))
    expect(wireReason('tool_calls')).toBe('stop')
    expect(
      enumsOf('finish_reason')
        .map(sorted)
        .filter((list) => !list.includes('error')),
    ).toEqual([wire, wire])
  })

  verifies('contract-3.error-chunk', 'error chunks carry each error code', () => {
    const { code } = openapi.components.schemas.StreamError.properties.error.properties
    expect(sorted(valuesIn(code))).toEqual(sorted(replyErrorCodes))
    expect(sorted(valuesIn(openapi.components.schemas.AgUiRunError.properties.code))).toEqual(sorted(replyErrorCodes))
  })

  verifies('contract-5.stream', 'the playground names each kind of event that takes no number', () => {
    const { description } = openapi.paths['/api/v1/agents/{agent_id}/playground/chat'].post
    for (const kind of shownKinds) if (!isNumberedKind(kind)) expect(description).toContain(`\`${kind}\``)
  })

  verifies('spec-3.status', 'messages carry each status', () => {
    expect(enumsOf('status').map(sorted)).toContainEqual(sorted(messageStatuses))
  })
})

describe('the client', () => {
  test('types each event of webhooks', () => {
    const typed: Record<Exclude<WebhookEvent['type'], 'ping'>, true> = {
      'reply.completed': true,
      'reply.failed': true,
      'reply.cancelled': true,
      'reply.waiting': true,
      'session.deleted': true,
      'feedback.created': true,
    }
    const { items } = openapi.components.schemas.WebhookCreate.properties.events
    expect(sorted(items.enum)).toEqual(sorted(Object.keys(typed)))
  })

  test('knows each finish reason and each error code', () => {
    const reasons = finishReasons satisfies readonly ClientReason[]
    expect(reasons.map(reasonOf)).toEqual([...finishReasons])
    expect(replyErrorCodes.map(codeOf)).toEqual([...replyErrorCodes])
  })

  test('has each kind of event', () => {
    expect(shownKinds satisfies readonly ClientEvent['type'][]).toEqual([
      'text',
      'reasoning',
      'tool_call',
      'tool_result',
    ])
  })
})

describe('the database', () => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database.drop())

  /** What the check constraint of one column allows. */
  async function allowed(table: string, column: string): Promise<string[]> {
    const rows = await database.sql<{ definition: string }[]>`
      select pg_get_constraintdef(c.oid) as definition from pg_constraint c
       where c.contype = 'c' and c.conrelid = ${table}::regclass
         and c.conkey = array(select attnum from pg_attribute where attrelid = c.conrelid and attname = ${column})`
    return rows.flatMap(({ definition }) => [...definition.matchAll(/'([^']*)'/g)].map(([, value]) => value ?? ''))
  }

  test.each([
    ['messages', 'finish_reason', [...finishReasons, 'error']],
    ['messages', 'status', messageStatuses],
    ['intents', 'kind', intentKinds],
  ] as const)('allows in %s.%s what the server writes there', async (table, column, values) => {
    expect(sorted(await allowed(table, column))).toEqual(sorted(values))
  })

  const restStateIn = async (reason: string) =>
    (await database.sql<{ state: string | null }[]>`select rest_state(${reason}) as state`)[0]?.state

  test('leaves a session after each finish reason in the state that the server does', async () => {
    const usage = { promptTokens: 1, completionTokens: 1, estimated: false }
    for (const reason of finishReasons) {
      expect(await restStateIn(reason), reason).toBe(restStateOf({ type: 'finished', reason, usage }))
    }
    const error = { code: 'internal', message: '', detail: '' } as const
    expect(await restStateIn('error')).toBe(restStateOf({ type: 'failed', error, usage }))
  })

  test('names no state for a finish reason that it does not know', async () => {
    expect(await restStateIn('unknown')).toBeNull()
  })
})

const startedAt = '2026-01-01T00:00:01.000Z'
const events = {
  text: { type: 'text', text: 'a' },
  reasoning: { type: 'reasoning', text: 'r' },
  tool_call: { type: 'tool_call', id: 'c', name: 'n', arguments: '{}', startedAt },
  tool_begun: { type: 'tool_begun', id: 'c', startedAt },
  tool_result: { type: 'tool_result', id: 'c', ok: true, content: 'x', durationMs: 1 },
  tool_asked: { type: 'tool_asked', id: 'c', asked: { server: 's', questions: [], of: 'h' } },
  tool_unknown: { type: 'tool_unknown', id: 'c' },
  model: { type: 'model', model: 'm2', providerId: 'p' },
} satisfies Record<ReplyEventKind, ReplyEvent>

const info: ReplyInfo = {
  id: 'r',
  sessionId: 's',
  sessionNum: 1,
  firstSeq: 5,
  model: 'm',
  createdAt: '2026-01-01T00:00:00.000Z',
  includeUsage: false,
  instanceId: 'i',
  epoch: 1,
}

describe.each(replyEventKinds)('an event of the kind %s', (kind) => {
  const event = events[kind]

  verifies('contract-4.stored-before-shown', 'comes out of the log as it was stored, in its place', async () => {
    const stored: StoredEvent[] = []
    const append = async (_: ReplyInfo, take: () => readonly StoredEvent[]) => {
      stored.push(...structuredClone(take()))
      return 'stored' as const
    }
    const log = createReplyLog(info, { append, withdraw() {}, onStored() {}, onRefused() {} })
    for (const one of [events.text, event, events.tool_call, event, event]) {
      log.push([one])
      await log.stored()
    }
    expect(stored.map((one) => one.event)).toEqual([events.text, event, events.tool_call, event, event])
    const isNew = isNumberedKind(kind)
    expect(stored.map(({ seq, part }) => [seq, part])).toEqual(
      isNew
        ? [6, 7, 7, 8, 9].map((seq, index) => [seq, index === 2 ? 1 : 0])
        : [0, 1, 2, 3, 4].map((part) => [6, part]),
    )
    expect(log.events()).toStrictEqual(stored)
  })

  verifies('contract-7.follow', 'reaches followers on other instances as it was stored', () => {
    const stored = { seq: 6, part: isNumberedKind(kind) ? 0 : 1, event }
    const message = decode(encode(storedMessage('r', { seq: 5, part: 0 }, [stored])))
    if (message?.type !== 'stored') throw new Error('another message')
    expect(eventsOf(message)).toEqual([stored])
  })

  verifies('contract-5.stream', 'is a chunk with an id where it is numbered, else a named event without', async () => {
    const log = createFrameLog(info)
    const shown: string[] = []
    const stateless: string[] = []
    const encoder = createFrameEncoder(completionHead(info))
    void log.read(0, new AbortController().signal, (batch) => {
      for (const frame of batch) {
        shown.push(playgroundFrame(encoder, frame))
        stateless.push(statelessFrame(encoder, frame))
      }
      return undefined
    })
    const before = shown.length
    log.push([{ seq: 6, part: isNumberedKind(kind) ? 0 : 1, event }])
    expect(shown).toHaveLength(before + 1)
    if (kind === 'tool_begun' || kind === 'tool_asked')
      return expect([shown.at(-1), stateless.at(-1)]).toEqual(['', ''])
    if (kind === 'model') return expect([shown.at(-1), stateless.at(-1)]).toEqual(['', ''])
    const name = kind === 'tool_unknown' ? 'tool_result' : kind
    expect(shown.at(-1)).toMatch(isNumberedKind(kind) ? /^id: 6\ndata: \{/ : new RegExp(`^event: ${name}\ndata: \\{`))
    expect(stateless.at(-1)).toMatch(isNumberedKind(kind) ? /^data: \{/ : /^$/)
  })
})
