/**
 * The web pages that may call an agent's deploy API: CORS (contract section 11). `@fastify/cors` decides before
 * credentials are known, and marks every answer. Here the credential decides: a page that holds the deploy key is
 * served without the headers.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../../../http/server/http-error.ts'
import { isForeignChange } from '../../../http/server/origins.ts'
import type { AgentForCompletion, AgentLookup } from '../../../persistence/records/agent-lookup.ts'
import { rateHeaderNames } from '../../limits/index.ts'
import { type Caller, pathParam } from './caller.ts'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

const EXPOSED = [
  'x-request-id',
  'x-session-id',
  'x-queue-position',
  'retry-after',
  'x-should-retry',
  'x-greenroom-ignored',
  'x-last-event-id',
  'mcp-session-id',
  ...rateHeaderNames,
].join(', ')

/**
 * The headers that the official client, `@ai-sdk/react` and `@ag-ui/client` and MCP clients send from a browser, an
 * EventSource in code, and what pages that are traced add. Firefox and Safari send a `user-agent` that code has set.
 */
const HEADERS = [
  'accept',
  'authorization',
  'cache-control',
  'content-type',
  'idempotency-key',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'openai-beta',
  'openai-organization',
  'openai-project',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-request-id',
  'x-stainless-arch',
  'x-stainless-async',
  'x-stainless-custom-poll-interval',
  'x-stainless-helper-method',
  'x-stainless-lang',
  'x-stainless-os',
  'x-stainless-package-version',
  'x-stainless-poll-helper',
  'x-stainless-raw-response',
  'x-stainless-read-timeout',
  'x-stainless-retry-count',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-stainless-timeout',
].join(', ')

type Agents = Pick<AgentLookup, 'find' | 'remembered'>

/** Returns the `Origin` of a request below an agent's deploy paths, if that agent lists it. */
export async function listedOrigin(agents: Agents, request: FastifyRequest): Promise<string | null> {
  const { origin } = request.headers
  const agentId = origin === undefined ? null : pathParam(request, 'agent_id')
  if (origin === undefined || agentId === null) return null
  const agent = await agentOf(agents, agentId, isPreflight(request) || !hasJsonBody(request))
  return agent?.allowedOrigins.includes(origin) ? origin : null
}

/**
 * Finds the agent. A request with a JSON body had its preflight, and its admission compares the version of the
 * configuration: what is remembered is good enough for it, and costs no query.
 */
async function agentOf(agents: Agents, id: string, isExact: boolean): Promise<AgentForCompletion | null> {
  const remembered = agents.remembered(id)
  if (remembered !== null && !isExact) return remembered
  return await agents.find(id).catch(() => remembered) // the database is away: what is known counts
}

export const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined

/** Lets the page read the answer, errors included. Never with cookies: no credential of a browser's own counts here. */
export function allowOrigin(reply: FastifyReply, origin: string): void {
  reply.header('access-control-allow-origin', origin)
  reply.header('access-control-expose-headers', EXPOSED)
  reply.header('vary', 'Origin')
}

/** Answers 204. Browsers send no credential with it. */
export function answerPreflight(reply: FastifyReply, origin: string): FastifyReply {
  return reply
    .code(204)
    .header('access-control-allow-origin', origin)
    .header('access-control-allow-methods', METHODS)
    .header('access-control-allow-headers', HEADERS)
    .header('access-control-max-age', '600')
    .header('vary', 'Origin')
    .send()
}

/**
 * Throws 403 for what a page of any origin can make a browser send to an open server: with a secret or a body of JSON the
 * browser asks for leave first.
 */
export function refuseForeignPage(request: FastifyRequest, caller: Caller, listed: string | null): void {
  if (caller.kind !== 'anyone' || listed !== null || hasJsonBody(request) || !isForeignChange(request)) return
  throw new HttpError(403, "This request comes from a page of an origin that is not among the agent's allowedOrigins.")
}

function hasJsonBody({ headers }: FastifyRequest): boolean {
  const isThere = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return isThere && /^application\/json\s*(;|$)/i.test(headers['content-type']?.trim() ?? '')
}
