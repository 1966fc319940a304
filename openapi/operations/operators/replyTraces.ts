import { operations } from '../../operation.ts'
import { ReplyRequests, ReplyTrace } from '../../schemas/operators/reply-traces.ts'

const reply = '/api/v1/debug/replies/{message_id}'
const unknown = 'There is no such reply.'

export const replyTraces = operations({
  getReplyTrace: {
    method: 'get',
    path: `${reply}/trace`,
    scope: 'management',
    shows: 'message_id',
    role: 'editor',
    summary: 'What happened in a reply: attempts, model turns, tool calls, settlement',
    responses: { 200: ReplyTrace },
    errors: { 404: unknown },
  },
  streamReplyTrace: {
    method: 'get',
    path: `${reply}/trace/stream`,
    scope: 'management',
    shows: 'message_id',
    role: 'editor',
    summary: 'Follow the trace of a reply',
    description: 'Each event is the whole `ReplyTrace` at a change. The stream ends after the settlement.',
    streams: 'only',
    events: [ReplyTrace],
    responses: { 200: null },
    errors: { 404: unknown },
  },
  listReplyRequests: {
    method: 'get',
    refusesUnknown: true,
    path: `${reply}/requests`,
    scope: 'management',
    shows: 'message_id',
    role: 'editor',
    summary: 'What the model was sent for a reply',
    responses: { 200: ReplyRequests },
    errors: { 404: `${unknown} Or \`TRACE_REQUESTS\` is \`off\`.` },
  },
})
