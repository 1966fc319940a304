/**
 * A caller's message on its way to its session: the key or retry by which it joins a reply, the agent that answers it.
 * Every surface that continues sessions sends through here (contract section 4).
 */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { AnswerFields } from '../../actors/ports/index.ts'
import type { Message, Sent, SessionHost } from '../../actors/session/host.ts'
import type { AgentForCompletion } from '../../persistence/records/agent-lookup.ts'
import type { PartRooms, PreparedParts } from '../parts/prepare.ts'
import { badRequest, HttpError } from '../server/http-error.ts'
import {
  type AgentRooms,
  agentActions,
  agentRequest,
  agentToolbox,
  loadAgent,
  refuseTakenNames,
} from './agent-for-reply.ts'
import { noFields } from './answer-fields.ts'
import type { CallerTools } from './caller-tools.ts'
import { fittingDecisions, type GivenDecisions } from './decisions.ts'
import { type OverrideRooms, settingsAmong, stillOverridden } from './overrides.ts'
import { refuse } from './refusals.ts'

export interface SendRooms extends AgentRooms, PartRooms, Pick<OverrideRooms, 'builtInTools'> {
  host: SessionHost
}

const MAX_KEY_LENGTH = 255

/** The request's `Idempotency-Key` with a hash of what it is held to. Null: none was sent. Throws 400. */
export function idempotencyOf(request: FastifyRequest, heldTo: unknown): Message['idempotency'] {
  const key = request.headers['idempotency-key']
  if (key === undefined || key === '') return null
  if (typeof key !== 'string' || key.length > MAX_KEY_LENGTH) {
    return badRequest(`Idempotency-Key: must have at most ${MAX_KEY_LENGTH} characters`)
  }
  return { key, bodyHash: hashOf(heldTo, request.uploads?.named) }
}

/** `named` puts the SHA-256 of bytes in their place. Throws 400. */
export const hashOf = (value: unknown, named = (text: string) => text): Buffer =>
  createHash('sha256')
    .update(named(jsonOf(value)))
    .digest()

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

/** What a request sets for its reply. */
export interface Asked {
  fields: AnswerFields
  /** Whether the model's is asked for and shown. */
  reasoning: boolean
  /** Absent: none. */
  callerTools?: CallerTools
  /** Whether calls that wait for an approval are shown. */
  includeActions?: boolean
  /** Decisions instead of a message. */
  decisions?: GivenDecisions
  /** Undefined: none. */
  parts?: PreparedParts | undefined
}

type Wanted = Omit<
  Message,
  | 'agentId'
  | 'agentName'
  | 'model'
  | 'configuration'
  | 'facts'
  | 'request'
  | 'openToolbox'
  | 'joinOnly'
  | 'actions'
  | 'inForce'
  | 'carried'
  | 'waitedMs'
  | 'decided'
  | 'parts'
> &
  Asked

/**
 * Sends from the agent as it was last seen, which spares a look at it: the admission itself says when the configuration
 * is another one by now. Throws 404 for an unknown agent, 400 for fields and parts that its provider does not take, and
 * what decisions that do not fit are refused with.
 */
export async function sendFrom(rooms: SendRooms, agentId: string, wanted: Wanted): Promise<Sent> {
  return await wholly(wanted.parts, () => sendUntilTaken(rooms, agentId, wanted))
}

/** Lets go of the parts once the message is stored, or never will be. */
export async function wholly(parts: PreparedParts | undefined, send: () => Promise<Sent>): Promise<Sent> {
  let isUnknown = false
  try {
    const sent = await send()
    isUnknown = sent.outcome === 'unknown'
    return sent
  } finally {
    if (!isUnknown) parts?.over()
  }
}

async function sendUntilTaken(rooms: SendRooms, agentId: string, wanted: Wanted): Promise<Sent> {
  const remembered = rooms.agents.remembered(agentId)
  const canAsk = remembered !== null && canBeAsked(rooms, remembered, wanted)
  let agent = canAsk ? remembered : await loadAgent(rooms, agentId)
  for (let tries = 1; ; tries++) {
    const sent = await sendTo(rooms, agent, wanted)
    // No such session: gone with its agent, perhaps.
    const isDoubtful = sent.outcome === 'stale' || (sent.outcome === 'not_found' && agent === remembered)
    if (isDoubtful) agent = await loadAgent(rooms, agentId)
    if (sent.outcome !== 'stale' || tries === MOST_TRIES) return sent
  }
}

/** Statuses of requests that cannot start a reply, and yet may repeat one that did. */
const mayRepeat = [400, 403, 409]

async function sendTo(rooms: SendRooms, agent: AgentForCompletion, wanted: Wanted): Promise<Sent> {
  const { fields, reasoning, callerTools, includeActions, decisions, ...message } = wanted
  const from = {
    ...message,
    agentId: agent.id,
    agentName: agent.name,
    model: agent.model,
    configuration: agent.configuration,
    facts: { providerId: agent.provider.id, prompt: agent.prompt, overrides: null },
    openToolbox: agentToolbox(rooms, agent),
  }
  try {
    if (decisions) return await rooms.host.send(await continuing(rooms, agent, wanted, decisions))
    if (callerTools) await refuseTakenNames(rooms, agent, callerTools)
    return await rooms.host.send({
      ...from,
      request: { ...agentRequest(rooms, agent, fields, message.parts?.mediaTypes), reasoning },
      actions: agentActions(agent, { callerTools, includeActions, canWait: true }),
      inForce: { tools: callerTools?.tools ?? [], fields, overrides: null },
    })
  } catch (error) {
    const mayJoin = message.isRetry || message.idempotency !== null
    if (!(error instanceof HttpError) || !mayRepeat.includes(error.status) || !mayJoin) throw error
    // The reply that it repeats may run already: the agent took these fields then, or the decisions were in time.
    const request = { ...agentRequest(rooms, { ...agent, responseFormat: null }, noFields), reasoning }
    const decided = decisions && { waitId: null, calls: decisions.calls, hash: hashOf(decisions.calls) }
    const sent = await rooms.host.send({ ...from, request, onBusy: 'reject', joinOnly: true, decided })
    if (sent.outcome === 'joined' || (decisions && sent.outcome === 'key_reused')) return sent
    throw error
  }
}

/**
 * A reply that goes on from the one that waits, with what was in force there: the tools, unless the request brings its
 * own, the fields that it does not name, the playground's overrides. Throws what the decisions are refused with.
 */
async function continuing(
  rooms: SendRooms,
  own: AgentForCompletion,
  wanted: Wanted,
  decisions: GivenDecisions,
): Promise<Message> {
  const { fields: given, reasoning, callerTools, includeActions, decisions: _, ...message } = wanted
  const { wait } = decisions
  if (wait === null) return refuse('not_waiting')
  const { carried } = wait
  const agent = await stillOverridden(rooms, own, carried.overrides)
  const openToolbox = () => rooms.openToolbox(agent.tools, new AbortController().signal)
  const calls = await fittingDecisions(decisions, openToolbox)
  if (callerTools) await refuseTakenNames(rooms, agent, callerTools)
  const fields = { ...carried.fields, ...given }
  const tools = callerTools ?? { tools: carried.tools, choice: null }
  return {
    ...message,
    agentId: agent.id,
    agentName: agent.name,
    model: agent.model,
    configuration: agent.configuration,
    facts: { providerId: agent.provider.id, prompt: agent.prompt, overrides: settingsAmong(carried.overrides) },
    openToolbox: agentToolbox(rooms, agent),
    request: { ...agentRequest(rooms, agent, fields), reasoning },
    actions: agentActions(agent, { callerTools: tools, includeActions, canWait: true }),
    inForce: { tools: tools.tools, fields, overrides: carried.overrides },
    carried,
    waitedMs: wait.waitedMs,
    decided: { waitId: wait.replyId, calls, hash: hashOf(decisions.calls) },
  }
}

/** False: its stored key cannot be opened, or its provider does not take what is sent; either may have been mended since. */
function canBeAsked(rooms: SendRooms, agent: AgentForCompletion, { fields, parts }: Wanted): boolean {
  try {
    agentRequest(rooms, agent, fields, parts?.mediaTypes)
    return true
  } catch {
    return false
  }
}
