import Type from 'typebox'
import { documented } from '../../documented.ts'
import { operations } from '../../operation.ts'

/** A handler reads it: what is wrong with it is said as the protocol says it. */
const JsonRpcMessage = Type.Unsafe({
  description: 'A JSON-RPC message of the Model Context Protocol; of its older revisions also a list of these.',
  ...documented({ anyOf: [{ type: 'object' }, { type: 'array', items: { type: 'object' } }] }),
})

export const mcp = operations({
  runMcp: {
    method: 'post',
    path: '/api/v1/agents/{agent_id}/deploy/mcp',
    scope: 'deploy',
    secret: 'handler',
    summary: 'The agent as an MCP server over streamable HTTP, with one tool: ask',
    description:
      'Of the revision 2026-07-28 and those of 2025. Nothing about a connection is kept. `ask` takes `message` and `session_id` (absent: it makes a session) and answers with the reply’s text and the session’s id. The answer is JSON or a stream of server-sent events, as the protocol has it.',
    headers: {
      'Idempotency-Key':
        'The same key and arguments join the reply of the first call; `_meta["greenroom/idempotency-key"]` is the same.',
    },
    body: JsonRpcMessage,
    streams: 'also',
    events: [JsonRpcMessage],
    responses: { 200: JsonRpcMessage, 202: null },
    errors: {
      400: 'No JSON-RPC message; the body is an error of the protocol.',
      404: 'There is no such agent.',
      406: '`accept` takes not both forms of an answer.',
      503: 'Draining; see `Retry-After`.',
    },
  },
})
