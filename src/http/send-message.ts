/**
 * A caller's message on its way to its session: the key or retry by which it joins a reply, the agent that answers it.
 * Every surface that continues sessions sends through here (contract section 4).
 */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { AnswerFields } from '../actors/ports.ts'
import type { Message, Sent, SessionHost } from '../actors/session-host.ts'
import type { AgentForCompletion } from '../persistence/records/agent-lookup.ts'
import { type AgentRooms, agentRequest, agentToolbox, loadAgent } from './agent-for-reply.ts'
import { noFields } from './answer-fields.ts'
import { badRequest, HttpError } from './http-error.ts'

export interface SendRooms extends AgentRooms {
  host: SessionHost
}

export const MAX_KEY_LENGTH = 255

/** The request's `Idempotency-Key` with a hash of what it is held to. Null: none was sent. Throws 400. */
export function idempotencyOf(request: FastifyRequest, heldTo: unknown): Message['idempotency'] {
  const key = request.headers['idempotency-key']
  if (key === undefined || key === '') return null
  if (typeof key !== 'string' || key.length > MAX_KEY_LENGTH) {
    return badRequest(`Idempotency-Key: must have at most ${MAX_KEY_LENGTH} characters`)
  }
  return { key, bodyHash: hashOf(heldTo) }
}

/** Throws 400. */
export const hashOf = (value: unknown): Buffer => createHash('sha256').update(jsonOf(value)).digest()

/** JSON is parsed however deep it nests, but written only as deep as the stack is. Throws 400. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return badRequest('body: is nested too deeply')
  }
}

/** Official clients count their own retries in this header (design: they try twice, without any key). */
export const isRetry = (request: FastifyRequest): boolean =>
  Number(request.headers['x-stainless-retry-count'] ?? 0) >= 1

/** How often a message is sent anew because its agent was being changed. */
const MOST_TRIES = 3

type Wanted = Omit<
  Message,
  'agentId' | 'agentName' | 'model' | 'configuration' | 'request' | 'openToolbox' | 'joinOnly'
> & {
  fields: AnswerFields
  /** Whether the model's is asked for and shown. */
  reasoning: boolean
}

/**
 * Sends from the agent as it was last seen, which spares a look at it: the admission itself says when the configuration
 * is another one by now. Throws 404 for an unknown agent, 400 for fields that its provider does not take.
 */
export async function sendFrom(rooms: SendRooms, agentId: string, wanted: Wanted): Promise<Sent> {
  const remembered = rooms.agents.remembered(agentId)
  const canAsk = remembered !== null && canBeAsked(rooms, remembered, wanted.fields)
  let agent = canAsk ? remembered : await loadAgent(rooms, agentId)
  for (let tries = 1; ; tries++) {
    const sent = await sendTo(rooms, agent, wanted)
    // No such session: gone with its agent, perhaps.
    const isDoubtful = sent.outcome === 'stale' || (sent.outcome === 'not_found' && agent === remembered)
    if (isDoubtful) agent = await loadAgent(rooms, agentId)
    if (sent.outcome !== 'stale' || tries === MOST_TRIES) return sent
  }
}

async function sendTo(rooms: SendRooms, agent: AgentForCompletion, wanted: Wanted): Promise<Sent> {
  const { fields, reasoning, ...message } = wanted
  const from = {
    ...message,
    agentId: agent.id,
    agentName: agent.name,
    model: agent.model,
    configuration: agent.configuration,
    openToolbox: agentToolbox(rooms, agent),
  }
  try {
    return await rooms.host.send({ ...from, request: { ...agentRequest(rooms, agent, fields), reasoning } })
  } catch (error) {
    const mayJoin = message.isRetry || message.idempotency !== null
    if (!(error instanceof HttpError) || error.status !== 400 || !mayJoin) throw error
    // The reply that it repeats may run already: the agent took these fields then.
    const request = { ...agentRequest(rooms, { ...agent, responseFormat: null }, noFields), reasoning }
    const sent = await rooms.host.send({ ...from, request, onBusy: 'reject', joinOnly: true })
    if (sent.outcome === 'joined') return sent
    throw error
  }
}

/** False: its stored key cannot be opened, or its provider does not take the fields; either may have been mended since. */
function canBeAsked(rooms: SendRooms, agent: AgentForCompletion, fields: AnswerFields): boolean {
  try {
    agentRequest(rooms, agent, fields)
    return true
  } catch {
    return false
  }
}
