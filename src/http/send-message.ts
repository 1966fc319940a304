/**
 * A caller's message on its way to its session: the key or retry by which it joins a reply, the agent that answers it.
 * Every surface that continues sessions sends through here (contract section 4).
 */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Message, Sent, SessionHost } from '../actors/session-host.ts'
import type { AgentForCompletion } from '../persistence/records/agent-lookup.ts'
import { type AgentRooms, agentRequest, agentToolbox, loadAgent } from './agent-for-reply.ts'
import { badRequest } from './http-error.ts'

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

/**
 * Sends from the agent as it was last seen, which spares a look at it: the admission itself says when the configuration
 * is another one by now. `reasoning`: whether the model's is asked for and shown. Throws 404 for an unknown agent.
 */
export async function sendFrom(
  rooms: SendRooms,
  agentId: string,
  reasoning: boolean,
  message: Omit<Message, 'agentId' | 'agentName' | 'model' | 'configuration' | 'request' | 'openToolbox'>,
): Promise<Sent> {
  const remembered = rooms.agents.remembered(agentId)
  let agent = remembered && canBeAsked(rooms, remembered) ? remembered : await loadAgent(rooms, agentId)
  for (let tries = 1; ; tries++) {
    const sent = await rooms.host.send({
      ...message,
      agentId: agent.id,
      agentName: agent.name,
      model: agent.model,
      configuration: agent.configuration,
      request: { ...agentRequest(rooms, agent), reasoning },
      openToolbox: agentToolbox(rooms, agent),
    })
    // No such session: gone with its agent, perhaps.
    const isDoubtful = sent.outcome === 'stale' || (sent.outcome === 'not_found' && agent === remembered)
    if (isDoubtful) agent = await loadAgent(rooms, agentId)
    if (sent.outcome !== 'stale' || tries === MOST_TRIES) return sent
  }
}

/** False: its stored key cannot be opened, which may have been mended since it was remembered. */
function canBeAsked(rooms: SendRooms, agent: AgentForCompletion): boolean {
  try {
    agentRequest(rooms, agent)
    return true
  } catch {
    return false
  }
}
