/**
 * The one place where a message becomes the record that goes on to the session, the journal and the reply. A new field of
 * a message is added here.
 */
import type { AnswerFields, Decisions, MessageExtras, SentMessage, StoredDecisions } from '../../actors/ports/index.ts'
import { startOf } from '../../actors/reply/start-reply.ts'
import type { MessageRecord, ReplySetup } from '../../actors/session/host.ts'
import {
  type CallerTools,
  findWait,
  fittingDecisions,
  type GivenDecisions,
  type SessionBelow,
  wasDecidedBelow,
} from '../../features/approvals/index.ts'
import { encodeStart } from '../../features/continuation/index.ts'
import { countsOf, limitsInForce } from '../../features/limits/index.ts'
import { findSession } from '../../features/sessions/index.ts'
import type { AgentForCompletion } from '../../persistence/records/agent-lookup.ts'
import { type ReplyValues, valuesWithoutSession } from '../../templates/placeholders.ts'
import {
  type AgentDependencies,
  agentActions,
  agentRequest,
  agentToolbox,
  refuseTakenNames,
  usesValues,
} from './agent-for-reply.ts'
import { agentOfSession } from './agent-of-session.ts'
import { noFields } from './answer-fields.ts'
import { textOfInstructions } from './caller-instructions.ts'
import { askedOf, broughtBy, type MessageInput, queuedInputOf } from './message-input.ts'
import { lowerOverrides, type OverrideDependencies, type Overrides, overridden, stillOverridden } from './overrides.ts'
import { refuse } from './refusals.ts'
import { hashOf } from './request-options.ts'

/** The version in which the Responses API numbers the events of a reply. It is stored, so that they are the same for ever. */
export const ITEM_ENCODER = 2

export type RecordDependencies = AgentDependencies & OverrideDependencies

/** The basis of a reply that is not the request's own. */
interface Basis extends Pick<ReplySetup, 'continued'> {
  agent: AgentForCompletion
  fields: AnswerFields
  callerTools: CallerTools | undefined
  overrides: Overrides | null
  /** Media types that the agent's provider must take. */
  mediaTypes?: readonly string[] | undefined
  decided?: Decisions | undefined
}

/** Makes the record. A field of the input, or of the record, that is forgotten here does not compile. */
function recordOf(deps: RecordDependencies, input: MessageInput, basis: Basis): MessageRecord {
  const { sessionId, user, by = null, text, place, includeUsage, idempotency, isRetry, onBusy, ...asked } = input
  const { origin, reasoning, includeActions, instructions, counted, answers, makeSession, ...more } = asked
  const { response, sentAs, madeBy, fields: _, callerTools: __, overrides: ___, ...instead } = more
  const { decisions: ____, follows: _____, asked: ______, pin, begunAs: _______, depth: given, ...others } = instead
  others satisfies Record<string, never>
  const { agent, fields, callerTools, overrides, mediaTypes, continued, decided } = basis
  const counts = counted && countsOf(agent, counted)
  const askedVersion = askedOf(input)
  const depth = given ?? input.decisions?.wait?.depth
  const setup = {
    agentName: agent.name,
    request: { ...agentRequest(deps, agent, fields, mediaTypes), reasoning },
    instructions: textOfInstructions(agent, instructions, response ? 'responses' : 'other'),
    actions: agentActions({
      callerTools,
      includeActions,
      canWait: true,
      expiresAfterS: agent.tools.approvalsExpireAfterS,
      turnsApart: response !== undefined,
    }),
    inForce: { tools: callerTools?.tools ?? [], fields, overrides },
    continued,
    openToolbox: agentToolbox(deps, agent, depth),
    origin,
  } satisfies Required<ReplySetup>
  // The agent of a message that waits is the one at its begin, which may say otherwise.
  const mayGoOn = agent.onLoss === 'continue' || onBusy === 'enqueue' || onBusy === 'steer'
  const message = {
    agentId: agent.id,
    sessionId,
    user,
    text,
    place,
    by,
    model: agent.model,
    includeUsage,
    idempotency,
    isRetry,
    configuration: agent.configuration,
    pin: askedOf(input) === null ? (pin ?? 0) : undefined,
    facts: {
      providerId: agent.provider.id,
      prompt: agent.prompt,
      agentVersion: agent.version,
      ...(askedVersion !== null && { askedVersion }),
      ...(depth !== undefined && { depth }),
      overrides: overrides?.configOverrides ?? null,
      encoder: ITEM_ENCODER,
      ...(response ? { response } : broughtBy(input)),
      ...(sentAs !== undefined && { sentAs }),
      ...(madeBy !== undefined && { madeBy }),
      ...(counts && { counts }),
      ...(mayGoOn && { start: encodeStart(startOf(setup)) }),
    },
    // Its user is told when the reply begins.
    usesValues: usesValues(agent) || counts?.user === true,
    onBusy,
  } satisfies Required<SentMessage>
  const extras = {
    queue: onBusy === 'reject' ? undefined : queuedInputOf(input),
    limits: counted && limitsInForce(agent, counted),
    approval: decided || answers?.length ? { decided, answers } : undefined,
    session: makeSession,
  } satisfies Required<Omit<MessageExtras, 'parts'>> // the host adds the parts, once they are stored
  return { message, setup, extras }
}

/** Makes the record of a message. `mediaTypes`: of its parts. Throws 400, 403 and 409. */
export async function recordFrom(
  deps: RecordDependencies,
  own: AgentForCompletion,
  input: MessageInput,
  mediaTypes?: readonly string[],
): Promise<MessageRecord> {
  const { fields, callerTools, decisions, overrides = null } = input
  if (decisions) return await continuing(deps, own, input, { decisions, mediaTypes })
  if (input.follows) return await following(deps, own, input, input.follows)
  const agent = overrides === null ? own : await overridden(deps, own, overrides)
  if (callerTools) await refuseTakenNames(deps, agent, callerTools, () => valuesNow(deps, agent, input))
  return recordOf(deps, input, { agent, fields, callerTools, overrides, mediaTypes })
}

/**
 * Returns the record of a reply that goes on from the one that waits, with what was in force there: the tools, unless the request
 * brings its own, the fields that it does not name, the playground's overrides. Throws what the decisions are refused
 * with.
 */
async function continuing(
  deps: RecordDependencies,
  own: AgentForCompletion,
  input: MessageInput,
  { decisions, mediaTypes }: { decisions: GivenDecisions; mediaTypes: readonly string[] | undefined },
): Promise<MessageRecord> {
  const { wait } = decisions
  if (wait === null) return refuse('not_waiting')
  const { carried, waitedMs } = wait
  const overrides = lowerOverrides(carried.overrides, input.overrides)
  const agent = await stillOverridden(deps, own, overrides)
  const openToolbox = async () =>
    deps.openToolbox(agent.tools, new AbortController().signal, await valuesNow(deps, agent, input))
  const below = (session: SessionBelow) => askingBelow(deps, session)
  const calls = await fittingDecisions(decisions, {
    openToolbox,
    below,
    wasDecidedBelow: (callIds) => wasDecidedBelow(deps.sql, wait.replyId, callIds),
    checkContent: deps.checkContent,
  })
  if (input.callerTools) await refuseTakenNames(deps, agent, input.callerTools, () => valuesNow(deps, agent, input))
  return recordOf(deps, input, {
    agent,
    fields: { ...carried.fields, ...input.fields },
    callerTools: input.callerTools ?? { tools: carried.tools, choice: null },
    overrides,
    mediaTypes,
    continued: { carried, waitedMs },
    decided: { waitId: wait.replyId, calls, inPart: decisions.inPart, hash: hashOfDecisions(decisions) },
  })
}

/** Returns what a session below asks, with its agent's tools. Throws 409 where it waits no more. */
async function askingBelow(deps: RecordDependencies, { agent_id: agentId, session_id: sessionId }: SessionBelow) {
  const { wait } = await findWait(deps.sql, { agentId, sessionId, user: null })
  if (wait === null) return refuse('not_waiting')
  const openToolbox = async () => {
    const agent = await agentOfSession(deps, { agent_id: agentId, session_id: sessionId })
    const values = await valuesNow(deps, agent, { sessionId, user: wait.user })
    return await deps.openToolbox(agent.tools, new AbortController().signal, values)
  }
  return { wait, openToolbox }
}

/** Returns the hash by which a retry of decisions is known: what they say, with the pictures and files of outputs. */
export const hashOfDecisions = ({ calls, parts = [] }: Pick<GivenDecisions, 'calls' | 'parts'>): Buffer =>
  hashOf(parts.length === 0 ? calls : { calls, parts })

/** Returns the record of a reply that carries out decisions which are stored. */
async function following(
  deps: RecordDependencies,
  own: AgentForCompletion,
  input: MessageInput,
  { carried, decisions, waitedMs }: StoredDecisions,
): Promise<MessageRecord> {
  const { fields, tools, overrides } = carried
  const agent = await stillOverridden(deps, own, overrides)
  const decided = { waitId: null, calls: decisions, inPart: false, hash: hashOf(decisions) }
  const callerTools = { tools, choice: null }
  return recordOf(deps, input, { agent, fields, callerTools, overrides, continued: { carried, waitedMs }, decided })
}

/** Returns the record of a message whose reply is opened and cannot be generated: nothing of it goes to a provider. */
export function unanswerable(deps: RecordDependencies, own: AgentForCompletion, input: MessageInput): MessageRecord {
  const agent = { ...own, provider: { ...own.provider, apiKey: null }, fallbacks: [] }
  return joinOnly(deps, agent, input)
}

/**
 * Returns the record of a request that cannot start a reply: it may repeat one, whatever the agent's provider takes by
 * now.
 */
export function joinOnly(
  deps: RecordDependencies,
  own: AgentForCompletion,
  input: MessageInput,
  decided?: Decisions,
): MessageRecord {
  const agent = { ...own, responseFormat: null }
  const basis = { agent, fields: noFields, callerTools: undefined, overrides: null, decided }
  const asked: MessageInput = { ...input, instructions: null, onBusy: 'reject' }
  return { ...recordOf(deps, asked, basis), joinOnly: true }
}

/** Returns the session's values as they are now, for a look at its tools. */
async function valuesNow(
  { sql }: RecordDependencies,
  { id, tools }: AgentForCompletion,
  { sessionId, user }: Pick<MessageInput, 'sessionId' | 'user'>,
): Promise<ReplyValues> {
  const session = tools.mcpServers.length > 0 ? await findSession(sql, id, sessionId) : null
  return { ...valuesWithoutSession(), sessionId, user: session?.user ?? user, metadata: session?.metadata ?? {} }
}
