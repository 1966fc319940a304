/** Stored messages as items, for the lists of requests and conversations (contract section 24). */
import { segmentsOf } from '../../../../actors/history/message-parts.ts'
import type { MessageCuts, MessagePart } from '../../../../actors/ports/index.ts'
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
    const answers = previousId === null ? [] : await decisionsOf(sql, previousId, 'behind')
    const outputs = answers.map((one) => answerItem(one, stored))
    const cuts = stored.request?.cuts ?? null
    return [...given, ...outputs, ...(question === null ? [] : questionItems({ ...question, cuts }, stored))]
  }
  if (previousId === null) return given
  return (await decisionsOf(sql, id, 'before')).map((decision) =>
    decisionItem(decision, { replyId: id, requestedBy: previousId, where: stored }),
  )
}

/** Yields the items of a conversation, read only as far as they are consumed. */
export async function* conversationItems(sql: Sql, where: Where, order: 'asc' | 'desc'): AsyncGenerator<StoredItem> {
  for await (const turn of readTurns(sql, where.sessionId, order)) {
    const items = itemsOf(turn, where)
    yield* order === 'asc' ? items : items.toReversed()
  }
}

/** Returns a user's message as the request had it: as one item or several, of which the last one has the message's id. */
function questionItems({ id, content, parts, cuts }: ShownQuestion, where: Where): StoredItem[] {
  const begins = [0, ...(cuts?.messages ?? [])]
  const numbered = parts.map((part, index) => ({ ...part, n: part.n ?? index }))
  return begins.map((from, n) => {
    const next = begins[n + 1]
    const to = next === undefined ? content.length : next - BETWEEN
    const ends = [...(cuts?.texts ?? []).filter((place) => place >= from && place <= to), to]
    const shown = ends.flatMap((end, index) => {
      const begin = ends[index - 1] ?? from
      const isLast = index === ends.length - 1
      const own = numbered.filter(({ place }) => place >= begin && (isLast ? place <= end : place < end))
      const moved = own.map((part) => ({ ...part, place: part.place - begin }))
      return contentOf(content.slice(begin, end), moved, pathsOf(id, moved, where))
    })
    const uuid = next === undefined ? id : partUuid(id, `message:${n}`)
    const texts = shown.length > 0 ? shown : [{ type: 'input_text', text: '' }]
    return { id: idOf('msg', uuid), type: 'message', status: 'completed', role: 'user', content: texts }
  })
}

type ShownQuestion = StoredQuestion & { cuts: MessageCuts | null }

/** The length of the empty line between two messages that were joined. */
const BETWEEN = '\n\n'.length

const idsOf = ({ agentId, sessionId }: Where): Where => ({ agentId, sessionId })

type Paths = ReadonlyMap<MessagePart, string>

/** Returns the paths at which the parts of a message are read. */
export const pathsOf = (messageId: string, parts: readonly MessagePart[], where: Where): Paths =>
  new Map(
    parts.map((part, index) => [part, partPath('deploy', { ...idsOf(where), messageId, n: `${part.n ?? index}` })]),
  )

/** Returns texts and parts in their order. */
const contentOf = (text: string, parts: readonly MessagePart[], paths: Paths) =>
  segmentsOf(text, parts).map((segment) => {
    if (typeof segment === 'string') return { type: 'input_text', text: segment }
    const url = paths.get(segment) ?? ''
    return segment.type === 'image_url'
      ? { type: 'input_image', image_url: url, detail: segment.detail ?? 'auto' }
      : { type: 'input_file', file_data: url, filename: segment.filename ?? undefined }
  })

/** Returns an output: a list where it held more than text. */
export function outputOf(
  callId: string,
  text: string,
  { parts, paths }: { parts: readonly MessagePart[]; paths: Paths },
) {
  const own = parts.filter((part) => part.callId === callId)
  return own.length === 0 ? text : contentOf(text, own, paths)
}

/** Returns the item of a decision. `requestedBy` is the reply whose response shows the call. */
function decisionItem(
  { callId, kind, decision, output, reason, heldBy, parts }: StoredDecision,
  { replyId, requestedBy, where }: { replyId: string; requestedBy: string; where: Where },
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
    call_id: callId,
    output: outputOf(callId, output ?? reason ?? '', { parts, paths: pathsOf(heldBy, parts, where) }),
  }
}

/** Returns the item of an output that a message brought for a call of the reply before it. */
const answerItem = (answer: StoredDecision, where: Where): StoredItem =>
  decisionItem(answer, { replyId: answer.heldBy, requestedBy: answer.heldBy, where })

export function itemsOf(turn: StoredTurn, where: Where): StoredItem[] {
  if (turn.role === 'user') return questionItems(turn, where)
  const { id, continues, decisions, answers, events, parts, isGiven } = turn
  const answered = answers.map((one) => answerItem(one, where))
  const shown = decisions.filter(({ kind }) => kind !== 'input')
  const decided =
    continues === null
      ? []
      : shown.map((decision) => decisionItem(decision, { replyId: id, requestedBy: continues, where }))
  const given = { id, events: events.map(({ event }) => event), parts }
  const own = isGiven ? givenItems(given, pathsOf(id, parts, where)) : shownOutput(turn)
  return [...decided, ...own, ...answered]
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
function givenItems(
  { id: replyId, events, parts }: { id: string; events: readonly ReplyEvent[]; parts: readonly MessagePart[] },
  paths: Paths,
): StoredItem[] {
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
        const output = outputOf(event.id, event.content, { parts, paths })
        return [{ id, type: 'function_call_output', status: 'completed', call_id: event.id, output }]
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
