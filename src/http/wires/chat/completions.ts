/** Stateless completions (specification 4.11): nothing is stored, a client that leaves stops the generation. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ChatCompletionRequest } from '../../../../openapi/schemas/conversation/chat.ts'
import type { Ending } from '../../../actors/generate/endings.ts'
import { createGeneration, type Generation } from '../../../actors/generate/generate.ts'
import type { Capabilities } from '../../../actors/generate/running.ts'
import type { AnswerFields, ModelRequest, Take } from '../../../actors/ports/index.ts'
import type { ObservedReply, Observer, ReplyObserver } from '../../../actors/ports/observer.ts'
import { newId } from '../../../actors/reply/new-id.ts'
import { closingFrames, type Frame, frameOf, type Outcome, type ReplyEvent } from '../../../actors/reply/reply-event.ts'
import { outcomeOf } from '../../../actors/session/actors.ts'
import type { HostOptions, SessionHost } from '../../../actors/session/host.ts'
import type { Slot } from '../../../actors/session/registry.ts'
import { firstAbort } from '../../../async/first-abort.ts'
import { type CallerTools, readCallerTools } from '../../../features/approvals/index.ts'
import { ownFiles } from '../../../features/files/index.ts'
import { inItsPlaces, type LimitDependencies, limitStateless } from '../../../features/limits/index.ts'
import {
  bringsAddresses,
  findAllStored,
  loadMessages,
  mediaTypesOf,
  type PartDependencies,
  partsIn,
  requireUploads,
  type SentConversation,
  type Uploads,
} from '../../../features/parts/index.ts'
import { type Caller, callerLimits, callerName, type DeployHandlers } from '../../../features/users/index.ts'
import { type AskedVersion, agentOfVersion } from '../../../features/versions/index.ts'
import { isDatabaseGone } from '../../../persistence/postgres/database.ts'
import type { AgentForCompletion } from '../../../persistence/records/agent-lookup.ts'
import { valuesWithoutSession } from '../../../templates/placeholders.ts'
import { holdsTime, promptToSend } from '../../../templates/prompt-template.ts'
import {
  type AgentDependencies,
  agentActions,
  agentRequest,
  agentToolbox,
  loadAgent,
  refuseTakenNames,
} from '../../sending/agent-for-reply.ts'
import { nameIgnored, readAnswerFields } from '../../sending/answer-fields.ts'
import { textOfInstructions } from '../../sending/caller-instructions.ts'
import { refuse } from '../../sending/refusals.ts'
import { originOf } from '../../server/observe-requests.ts'
import { missingOf, nameMissing } from '../../streaming/missing-tools-header.ts'
import { connectionSignal } from '../../streaming/reply-stream.ts'
import { openEventStream } from '../../streaming/sse.ts'
import { givenConversation } from '../shared/given-conversation.ts'
import { chatAnswer, type StatelessAnswer, type StatelessInfo } from './chat-answer.ts'
import { askedBy, callsSinceUser, readConversation, readInstructions } from './chat-request.ts'
import { generationFailed } from './errors.ts'

export interface CompletionDependencies
  extends AgentDependencies,
    PartDependencies,
    LimitDependencies,
    Pick<HostOptions, 'model' | 'gate' | 'generationTimeoutMs' | 'historyMaxTokens'> {
  host: SessionHost
  capabilities: Capabilities
  observer: Observer
}

interface Reading {
  generation: Generation
  observer: ReplyObserver
  /** Tells of an unexpected error while generating. */
  onFault(error: unknown): void
  /** Resolves when its use is counted. Called before its client sees the end: the next request may follow at once. */
  counted(): Promise<void>
}

/** Returns a reply that is not stored. Null when `client` aborted. */
async function generate(
  { generation, observer, onFault, counted }: Reading,
  client: AbortSignal,
  slot: Slot,
  take: Take<ReplyEvent>,
): Promise<Outcome | null> {
  const running = generation.run(firstAbort(client, slot.signal), (events) =>
    client.aborted ? undefined : take(events),
  )
  const own = await running.catch((error: unknown) => {
    if (!client.aborted && !slot.signal.aborted) onFault(error)
    return notGenerated(error)
  })
  const error = slot.error()
  const ending: Ending = error ? { type: 'failed', error } : own
  const ended = ending.type === 'failed' ? ending.error.code : ending.reason
  const usage = await generation.usage()
  const failure = ending.type === 'failed' ? ending.error : null
  if (client.aborted) observer.on({ type: 'ended', outcome: 'left', usage, error: null })
  else observer.on({ type: 'ended', outcome: ended, usage, error: failure })
  await counted()
  return client.aborted ? null : outcomeOf(ending, usage)
}

const notGenerated = (error: unknown): Ending => ({
  type: 'failed',
  error: { code: 'internal', message: 'The reply could not be generated.', detail: `${error}` },
})

/** The content of a request, whatever its format. */
export interface StatelessRequest {
  sent: SentConversation
  fields: AnswerFields
  callerTools: CallerTools
  reasoning: boolean
  stream: boolean
  includeUsage: boolean
  turnsApart?: boolean // see Actions
  /** The text that follows the agent's prompt. Null or absent when the request brings none. */
  appended?: string | null
  /** The summary of what was before the conversation. Null or absent when nothing was. */
  summary?: string | null
  /** The agent with settings of the request. When absent, as it is. */
  agent?: AgentForCompletion
  /** The end user. Null when the request names none. */
  user: string | null
}

/**
 * Answers a request that stores nothing, in the format that `open` makes. `read` reads the request: it is called once the
 * agent is found. Undefined when the answer was streamed, or the client has gone.
 */
export async function answerStateless<Body>(
  deps: CompletionDependencies,
  agentId: string,
  { caller, request, reply }: { caller: Caller; request: FastifyRequest; reply: FastifyReply },
  {
    version,
    read,
    open,
  }: {
    /** The version of the agent that is asked for. Absent for the live one. */
    version?: AskedVersion | undefined
    read(uploads: Uploads, agent: AgentForCompletion): StatelessRequest
    open(info: StatelessInfo): StatelessAnswer<Body>
  },
): Promise<Body | undefined> {
  const live = await loadAgent(deps, agentId)
  const own = version ? await agentOfVersion(deps, live, version) : live
  const uploads = requireUploads(request)
  const { sent: given, agent = own, appended = null, summary = null, ...wanted } = read(uploads, own)
  const { fields, callerTools, reasoning, includeUsage, user, stream, turnsApart } = wanted
  const sent = await findAllStored(given, ownFiles(deps.sql, caller, agentId))
  const asked = { ...agentRequest(deps, agent, fields, mediaTypesOf(partsIn(sent))), reasoning }
  // Nothing of the session but what the request itself tells.
  const values = { ...valuesWithoutSession(), user }
  await refuseTakenNames(deps, agent, callerTools, async () => values)
  const id = newId()
  const limited = limitStateless(deps, { id, agent, user, counted: callerLimits(caller, reply) })
  if (bringsAddresses(sent)) await limited.look()
  const messages = await loadMessages(deps, sent, { uploads, of: callerName(caller) })
  const slot = deps.host.takeSlot(agent.id)
  if (typeof slot === 'string') return refuse(slot)
  using _slot = slot
  const origin = originOf(request)
  const observed = () => deps.observer.begin(observedAs(agent, asked, { id, origin, countsFor: limited.countsFor }))
  return await inItsPlaces(limited, observed, async (observer) => {
    const openToolbox = agentToolbox(deps, agent)
    const options = {
      ...deps.capabilities,
      replyId: id,
      model: deps.model,
      openToolbox: (signal: AbortSignal) => openToolbox(signal, values),
      actions: { ...agentActions({ callerTools, canWait: false, turnsApart }), callsUsed: callsSinceUser(messages) },
      timeoutMs: deps.generationTimeoutMs,
      gate: deps.gate,
      observer,
    }
    const maxTokens = asked.historyMaxTokens ?? deps.historyMaxTokens
    const at = holdsTime(asked.system) ? values.at : null
    const told = { conversation: givenConversation(messages, at, summary), maxTokens }
    const system = promptToSend(asked.system, values, appended)
    const generation = createGeneration({ ...asked, system, messages: [] }, { ...options, told })
    const onFault = (error: unknown) => {
      // What a database that is away did stands in the failed reply's own line.
      if (!isDatabaseGone(error)) request.log.error({ err: error, replyId: id }, 'A reply met an unexpected error.')
    }
    const reading = { generation, observer, onFault, counted: limited.counted }
    const answer = open({ id, createdAt: new Date().toISOString(), model: agent.model })
    if (stream) {
      await streamAnswer(reply, answer, includeUsage, (client, take) => generate(reading, client, slot, take))
      return undefined
    }
    const events: ReplyEvent[] = []
    const outcome = await generate(reading, connectionSignal(reply), slot, (emitted) => {
      for (const event of emitted) events.push(event)
      return undefined
    })
    nameMissing(reply, events.map(missingOf).findLast((missing) => missing !== null) ?? null)
    if (outcome?.type === 'failed') return generationFailed(outcome.error)
    if (outcome) return answer.whole(events, outcome)
    reply.hijack() // the client has disconnected
    return undefined
  })
}

const observedAs = (
  { id: agentId, name: agentName, model, version: agentVersion }: AgentForCompletion,
  { provider, config }: Pick<ModelRequest, 'provider' | 'config'>,
  reply: Pick<ObservedReply, 'id' | 'origin' | 'countsFor'>,
): ObservedReply => ({
  ...reply,
  purpose: 'reply',
  sessionId: null,
  agentId,
  agentName,
  agentVersion,
  model,
  providerId: provider.id,
  providerType: provider.type,
  config,
})

async function streamAnswer(
  reply: FastifyReply,
  { encode }: Pick<StatelessAnswer<unknown>, 'encode'>,
  includeUsage: boolean,
  run: (client: AbortSignal, take: Take<ReplyEvent>) => Promise<Outcome | null>,
): Promise<void> {
  const events = openEventStream(reply, { gathers: true })
  const write = (frames: readonly Frame[]) => events.write(encode(frames))
  await write([{ seq: 0, type: 'started' }])
  const outcome = await run(events.signal, (emitted) =>
    write(emitted.map((event) => frameOf({ seq: 0, part: 0, event }))),
  )
  if (outcome) await write(closingFrames(outcome, 0, includeUsage))
  events.end()
}

/** Returns the end user's name as OpenAI's clients send it. It is still listed as ignored: no answer depends on it. */
function userIn(body: object): string | null {
  const { user }: { user?: unknown } = body
  return typeof user === 'string' && user !== '' ? user : null
}

const known = new Set(Object.keys(ChatCompletionRequest.properties))
/** The known fields where users have limits: theirs are those of the user that the request names. */
const knownWithUser = new Set([...known, 'user'])

export const completionHandlers = (deps: CompletionDependencies) =>
  ({
    createChatCompletion: ({ params, body, ...exchange }) =>
      answerStateless(deps, params.agent_id, exchange, {
        version: askedBy(exchange.caller, body.agent_version),
        read(uploads, agent) {
          const instructions = readInstructions(body.messages, exchange.caller)
          const request = {
            appended: textOfInstructions(agent, instructions, 'other'),
            sent: readConversation(body.messages, uploads),
            callerTools: readCallerTools(body),
            fields: readAnswerFields(body),
            reasoning: body.include_reasoning === true,
            stream: body.stream === true,
            includeUsage: body.stream_options?.include_usage === true,
            user: userIn(body),
          }
          nameIgnored(exchange.reply, body, agent.userLimits ? knownWithUser : known)
          return request
        },
        open: chatAnswer,
      }),
  }) satisfies DeployHandlers<'completions'>
