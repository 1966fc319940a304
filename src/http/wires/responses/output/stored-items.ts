/** Stored messages as items, for the lists of requests and conversations (contract section 24). */
import { segmentsOf } from '../../../../actors/history/message-parts.ts'
import { closingFrames, type Frame, frameOf, type ReplyEvent } from '../../../../actors/reply/reply-event.ts'
import { partPath } from '../../../../features/parts/index.ts'
import type { Sql } from '../../../../persistence/postgres/database.ts'
import {
  decisionsOf,
  questionOf,
  readFirstTurns,
  readTurns,
  type StoredDecision,
  type StoredQuestion,
  type StoredTurn,
} from '../store/stored-inputs.ts'
import type { StoredResponse } from '../store/stored-responses.ts'
import { createResponseEncoder } from './encoder.ts'
import { callUuid, givenNames, idOf, outputUuid, partUuid } from './ids.ts'
import type { OutputItem } from './response-object.ts'

export interface Where {
  agentId: string
  sessionId: string
}

interface OtherItem {
  id: string
  type: string
  [field: string]: unknown
}

export type StoredItem = OutputItem | OtherItem

/** Returns the items of a request: its message, or its decisions. */
export async function inputItemsOf(sql: Sql, stored: StoredResponse): Promise<StoredItem[]> {
  const { id, questionId, previousId } = stored
  const given = (await readFirstTurns(sql, stored.sessionId, stored.request?.given ?? 0)).flatMap((turn) =>
    itemsOf(turn, stored),
  )
  if (questionId !== null) {
    const question = await questionOf(sql, questionId)
    return question === null ? given : [...given, questionItem(question, stored)]
  }
  if (previousId === null) return given
  return (await decisionsOf(sql, id, previousId)).map((decision) => decisionItem(decision, id, previousId))
}

/** Yields the items of a conversation, read only as far as they are consumed. */
export async function* conversationItems(sql: Sql, where: Where, order: 'asc' | 'desc'): AsyncGenerator<StoredItem> {
  for await (const turn of readTurns(sql, where.sessionId, order)) {
    const items = itemsOf(turn, where)
    yield* order === 'asc' ? items : items.toReversed()
  }
}

function questionItem({ id, content, parts }: StoredQuestion, { agentId, sessionId }: Where): StoredItem {
  const numbers = new Map(parts.map((part, n) => [part, n]))
  const segments = segmentsOf(content, parts)
  const shown = segments.map((segment) => {
    if (typeof segment === 'string') return { type: 'input_text', text: segment }
    const url = partPath('deploy', { agentId, sessionId, messageId: id, n: `${numbers.get(segment) ?? 0}` })
    return segment.type === 'image_url'
      ? { type: 'input_image', image_url: url, detail: segment.detail ?? 'auto' }
      : { type: 'input_file', file_data: url, filename: segment.filename ?? undefined }
  })
  const texts = shown.length > 0 ? shown : [{ type: 'input_text', text: '' }]
  return { id: idOf('msg', id), type: 'message', status: 'completed', role: 'user', content: texts }
}

/** Returns the item of a decision. `requestedBy` is the reply whose response shows the call. */
function decisionItem(
  { callId, kind, decision, output, reason }: StoredDecision,
  replyId: string,
  requestedBy: string,
): StoredItem {
  const own = partUuid(replyId, `decision:${callId}`)
  const call = callUuid(requestedBy, callId)
  if (kind === 'approval' && decision !== 'respond') {
    const approval_request_id = idOf('mcpr', call)
    const approve = decision === 'approve'
    return { id: idOf('mcpr', own), type: 'mcp_approval_response', approval_request_id, approve, reason }
  }
  return {
    id: idOf('fco', own),
    type: 'function_call_output',
    status: 'completed',
    call_id: idOf('call', call),
    output: output ?? reason ?? '',
  }
}

export function itemsOf(turn: StoredTurn, where: Where): StoredItem[] {
  if (turn.role === 'user') return [questionItem(turn, where)]
  const { id, continues, decisions, events, isGiven } = turn
  const shown = decisions.filter(({ kind }) => kind !== 'input')
  const decided = continues === null ? [] : shown.map((decision) => decisionItem(decision, id, continues))
  if (isGiven)
    return [
      ...decided,
      ...givenItems(
        id,
        events.map(({ event }) => event),
      ),
    ]
  return [...decided, ...shownOutput(turn)]
}

/** Returns the output of a reply that was generated here. */
export function shownOutput(turn: Extract<StoredTurn, { role: 'assistant' }>): OutputItem[] {
  const { id, encoder: version, events, outcome, createdAt } = turn
  const reply = { id, createdAt: createdAt.toISOString(), model: turn.model ?? '' }
  const head = { reply, sessionId: null, encoder: version, previousId: null, request: null }
  const encoder = createResponseEncoder(head, Number.POSITIVE_INFINITY)
  encoder.encode(events.map(frameOf))
  const closing: Frame[] = outcome ? closingFrames(outcome, 0, false) : []
  encoder.encode(closing)
  return encoder.response().output
}

/** Returns the items of a message that was given with its session: texts, calls and outputs in their order. */
function givenItems(replyId: string, events: readonly ReplyEvent[]): StoredItem[] {
  let texts = 0
  const nameOf = givenNames(replyId)
  return events.flatMap((event): StoredItem[] => {
    switch (event.type) {
      case 'text': {
        const id = idOf('msg', texts++ === 0 ? replyId : outputUuid(replyId, texts))
        const content = [{ type: 'output_text', text: event.text, annotations: [], logprobs: [] }]
        return [{ id, type: 'message', status: 'completed', role: 'assistant', content }]
      }
      case 'tool_call': {
        const { id: call_id, name, arguments: text } = event
        const id = idOf('fc', nameOf(event))
        return [{ id, type: 'function_call', status: 'completed', call_id, name, arguments: text }]
      }
      case 'tool_result': {
        const id = idOf('fco', nameOf(event))
        return [{ id, type: 'function_call_output', status: 'completed', call_id: event.id, output: event.content }]
      }
      case 'reasoning':
      case 'tool_begun':
      case 'tool_asked':
      case 'tool_unknown':
      case 'model':
        return [] // no message that is given brings one
      default:
        return event satisfies never
    }
  })
}
