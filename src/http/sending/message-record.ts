/**
 * A message as its surface has read it, and the one place where it becomes the record that goes on to the session, the
 * journal and the reply. A new field of a message is added here.
 */
import type { AnswerFields, NewMessage, QueuedInput, ResponseRequest } from '../../actors/ports/index.ts'
import { startOf } from '../../actors/reply/start-reply.ts'
import type { Message, MessageRecord } from '../../actors/session/host.ts'
import { type CallerTools, fittingDecisions, type GivenDecisions } from '../../features/approvals/index.ts'
import { encodeStart } from '../../features/continuation/index.ts'
import { type CallerLimits, countsOf, limitsInForce } from '../../features/limits/index.ts'
import type { PreparedParts } from '../../features/parts/index.ts'
import type { AgentForCompletion } from '../../persistence/records/agent-lookup.ts'
import {
  type AgentDependencies,
  agentActions,
  agentRequest,
  agentToolbox,
  refuseTakenNames,
  usesValues,
} from './agent-for-reply.ts'
import { noFields } from './answer-fields.ts'
import { type Instructions, textOfInstructions } from './caller-instructions.ts'
import { type OverrideDependencies, type Overrides, overridden, stillOverridden } from './overrides.ts'
import { refuse } from './refusals.ts'
import { hashOf } from './request-options.ts'

export type RecordDependencies = AgentDependencies & OverrideDependencies

/** The settings that a request brings for its reply. */
export interface ReplyOptions {
  fields: AnswerFields
  /** Whether the model's reasoning is asked for and shown. */
  reasoning: boolean
  /** Absent when the request brings none; those that are in force stay. */
  callerTools?: CallerTools
  /** Whether calls that wait for an approval are shown. */
  includeActions?: boolean
  /** The text that follows the agent's prompt. Null or absent when the request brings none. */
  instructions?: Instructions | null
  /** The playground's settings and tools. Null or absent when it sets nothing. */
  overrides?: Overrides | null
  /** Decisions instead of a message. */
  decisions?: GivenDecisions
  /** The Responses API's part of the request. Absent when another API is used. */
  response?: ResponseRequest
  /** Absent when the request counts for no limit. */
  counted?: CallerLimits
}

/** A message and what it asks for, whatever its agent: plain data. The bytes of its parts are held beside it. */
export type MessageInput = ReplyOptions &
  Pick<
    MessageRecord,
    | 'sessionId'
    | 'user'
    | 'by'
    | 'text'
    | 'answers'
    | 'place'
    | 'includeUsage'
    | 'idempotency'
    | 'isRetry'
    | 'makeSession'
    | 'onBusy'
    | 'origin'
  > & {
    /** The id that the client gave the message. Absent when it sent none. */
    sentAs?: string
    /** See ReplyFacts. Absent when the request makes no session, or names no user. */
    madeBy?: string | undefined
  }

/** The ingredients of a reply. */
interface Basis {
  agent: AgentForCompletion
  fields: AnswerFields
  callerTools: CallerTools | undefined
  overrides: Overrides | null
  parts: PreparedParts | undefined
  /** Media types that the agent's provider must take. */
  mediaTypes: readonly string[] | undefined
}

function recordOf(deps: RecordDependencies, input: MessageInput, basis: Basis): Message {
  const {
    fields: _,
    callerTools: __,
    overrides: ___,
    decisions: ____,
    reasoning,
    includeActions,
    instructions,
    response,
    counted,
    sentAs,
    madeBy,
    ...message
  } = input
  const { agent, fields, callerTools, overrides, parts, mediaTypes } = basis
  const counts = counted && countsOf(agent, counted)
  const actions = agentActions({ callerTools, includeActions, canWait: true })
  const inForce = { tools: callerTools?.tools ?? [], fields, overrides }
  const text = textOfInstructions(agent, instructions)
  const request = { ...agentRequest(deps, agent, fields, mediaTypes), reasoning }
  // The agent of a message that waits is the one at its begin, which may say otherwise.
  const mayGoOn = agent.onLoss === 'continue' || input.onBusy === 'enqueue' || input.onBusy === 'steer'
  return {
    ...message,
    agentId: agent.id,
    agentName: agent.name,
    model: agent.model,
    configuration: agent.configuration,
    facts: {
      providerId: agent.provider.id,
      prompt: agent.prompt,
      overrides: overrides?.configOverrides ?? null,
      ...(response && { response }),
      ...(sentAs !== undefined && { sentAs }),
      ...(madeBy !== undefined && { madeBy }),
      ...(counts && { counts }),
      ...(mayGoOn && { start: encodeStart(startOf({ inForce, actions, request, instructions: text })) }),
    },
    request,
    instructions: text,
    actions,
    inForce,
    parts,
    openToolbox: agentToolbox(deps, agent),
    // Its user is told when the reply begins.
    usesValues: usesValues(agent) || counts?.user === true,
    limits: counted && limitsInForce(agent, counted),
    ...(input.onBusy !== 'reject' && { queuedInput: queuedInputOf(input) }),
  }
}

/** Returns what is stored of a message that may wait, whatever its agent is when it begins. */
const queuedInputOf = (input: MessageInput): QueuedInput => ({
  user: input.user,
  by: input.by ?? null,
  includeUsage: input.includeUsage,
  reasoning: input.reasoning,
  fields: input.fields,
  ...(input.callerTools && { callerTools: input.callerTools }),
  includeActions: input.includeActions === true,
  instructions: input.instructions ?? null,
  overrides: input.overrides ?? null,
  ...(input.response && { response: input.response }),
  origin: input.origin,
})

/** Throws 400, 403 and 409. */
export async function messageFrom(
  deps: RecordDependencies,
  own: AgentForCompletion,
  input: MessageInput,
  parts: PreparedParts | undefined,
  mediaTypes = parts?.mediaTypes,
): Promise<Message> {
  const { fields, callerTools, decisions, overrides = null } = input
  if (decisions) return await continuing(deps, own, input, decisions)
  const agent = overrides === null ? own : await overridden(deps, own, overrides)
  if (callerTools) await refuseTakenNames(deps, agent, callerTools)
  return recordOf(deps, input, { agent, fields, callerTools, overrides, parts, mediaTypes })
}

/**
 * Returns a reply that goes on from the one that waits, with what was in force there: the tools, unless the request
 * brings its own, the fields that it does not name, the playground's overrides. Throws what the decisions are refused
 * with.
 */
async function continuing(
  deps: RecordDependencies,
  own: AgentForCompletion,
  input: MessageInput,
  decisions: GivenDecisions,
): Promise<Message> {
  const { wait } = decisions
  if (wait === null) return refuse('not_waiting')
  const { carried } = wait
  const { overrides } = carried
  const agent = await stillOverridden(deps, own, overrides)
  const openToolbox = () => deps.openToolbox(agent.tools, new AbortController().signal)
  const calls = await fittingDecisions(decisions, openToolbox)
  if (input.callerTools) await refuseTakenNames(deps, agent, input.callerTools)
  const fields = { ...carried.fields, ...input.fields }
  const callerTools = input.callerTools ?? { tools: carried.tools, choice: null }
  return {
    ...recordOf(deps, input, { agent, fields, callerTools, overrides, parts: undefined, mediaTypes: undefined }),
    carried,
    waitedMs: wait.waitedMs,
    decided: { waitId: wait.replyId, calls, hash: hashOf(decisions.calls) },
  }
}

/** Returns the record of a message whose reply is opened and cannot be generated: nothing of it goes to a provider. */
export function unanswerable(
  deps: RecordDependencies,
  own: AgentForCompletion,
  input: MessageInput,
): Omit<Message, 'parts'> {
  const agent = { ...own, provider: { ...own.provider, apiKey: null }, fallbacks: [] }
  const { parts: _, ...record } = joinOnly(deps, agent, input, { parts: undefined, decided: undefined })
  return record
}

/**
 * Returns the record of a request that cannot start a reply: it may repeat one, whatever the agent's provider takes by
 * now.
 */
export function joinOnly(
  deps: RecordDependencies,
  own: AgentForCompletion,
  input: MessageInput,
  { parts, decided }: { parts: PreparedParts | undefined; decided: NewMessage['decided'] },
): Message {
  const agent = { ...own, responseFormat: null }
  const basis = { agent, fields: noFields, callerTools: undefined, overrides: null, parts, mediaTypes: undefined }
  return { ...recordOf(deps, { ...input, instructions: null }, basis), onBusy: 'reject', joinOnly: true, decided }
}
