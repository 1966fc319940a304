/** AG-UI over deploy sessions (contract section 12). A run is sent, or joined when it is sent again. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RunAgentInput } from '../../../../openapi/generated/schema.ts'
import type { CallAnswer, MessagePlace, OnBusy } from '../../../actors/ports/index.ts'
import { pendingKinds } from '../../../actors/reply/reply-event.ts'
import type { Queued } from '../../../actors/session/send.ts'
import {
  answersAmong,
  awaitedAt,
  broughtFunctions,
  deciderOf,
  findWait,
  type GivenDecisions,
} from '../../../features/approvals/index.ts'
import { lastKnownReply, sentMessage } from '../../../features/branches/index.ts'
import { repliesAfterSignIns } from '../../../features/connections/index.ts'
import { replyIdOf, type SentAnswer, sentAnswer } from '../../../features/queue/index.ts'
import { type DeployHandlers, opensId } from '../../../features/users/index.ts'
import { findAgent } from '../../../persistence/records/agents.ts'
import { hashOf } from '../../sending/request-options.ts'
import type { SendDependencies } from '../../sending/send-message.ts'
import { missing } from '../../server/http-error.ts'
import { type Encoding, streamBatches } from '../../streaming/reply-stream.ts'
import { sendMakingSession } from '../chat/send-first.ts'
import { encodeFrames, knowingBelow } from '../front-ends/asked-below.ts'
import { type ChatRequest, type ChatSession, chatSession, chatUser } from '../front-ends/chat-session.ts'
import { pageInstructions } from '../front-ends/page-instructions.ts'
import { repliesBefore } from '../shared/reply-events.ts'
import { createRunEncoder } from './encoder.ts'
import { type RunInput, readForwarded, readRunInput, resumeDecisions } from './input.ts'

/** The calls whose users have signed in, each with the reply that began with that. */
type SignedIn = Awaited<ReturnType<typeof repliesAfterSignIns>>

/** Returns the decisions of a run with the calls that wait. Throws 404. */
async function decisionsFor(
  { sql }: SendDependencies,
  { agentId, caller, user, sessionId }: ChatRequest & { sessionId: string },
  { decisions: results, resume, asMessages }: RunInput,
  signedIn: SignedIn,
): Promise<GivenDecisions | null> {
  if (results === null && resume === undefined) return null
  const { found, wait } = await findWait(sql, { agentId, sessionId, user })
  if (!found) missing('session')
  const decisions = resume ? resumeDecisions(resume, wait?.pending ?? [], signedIn) : (results ?? [])
  // A repeated run may end with results that it was shown. If none of them is pending, the run can only join.
  const pending = decisions.filter(({ id }) => wait?.pending.some(({ call_id }) => call_id === id))
  const calls = asMessages && pending.length > 0 ? pending : decisions
  const decides = asMessages ? (['caller'] as const) : pendingKinds
  return { calls, wait, ...deciderOf(caller), asMessages, inPart: false, decides }
}

/** Returns the page's own results that pending calls wait for, sent before a new message. */
async function answersFor(
  { sql }: SendDependencies,
  { agentId, user, sessionId }: ChatRequest & { sessionId: string },
  { made }: RunInput,
  place: MessagePlace | undefined,
): Promise<CallAnswer[]> {
  if (made.length === 0) return []
  const { wait } = await findWait(sql, { agentId, sessionId, user })
  return answersAmong(made, awaitedAt(place, wait))
}

/** Returns the reply that began by itself when its user had signed in, where that is all that a run resumes. */
function afterSignIns(
  { queue }: SendDependencies,
  { sessionId }: { sessionId: string },
  { resume = [] }: RunInput,
  signedIn: SignedIn,
): Queued | null {
  const replies = new Set(resume.map(({ id, isResolved }) => (isResolved && signedIn.get(id)) || null))
  const [replyId = null] = replies
  return replyId === null || replies.size > 1 ? null : queue.queued({ replyId, sessionId, position: 0 })
}

/**
 * Returns the place of a message that the thread already has, with the same id and text: it is answered again. AG-UI
 * has no other way to ask for that: a client truncates its list after the message, and runs again.
 */
async function placeOfRun(
  { sql }: SendDependencies,
  by: ChatRequest & { sessionId: string },
  { text, named }: RunInput,
): Promise<MessagePlace | undefined> {
  if (named === undefined) return undefined
  const parent = await lastKnownReply(sql, by.sessionId, named.replies)
  const stored = await sentMessage(sql, by, { parent, id: named.id, text })
  return stored === null ? undefined : { regenerate: stored }
}

/**
 * Returns the `on_busy` that applies. Decisions and regenerated replies are never queued, though a page may request
 * that for each of its runs.
 */
function effectiveOnBusy(onBusy: OnBusy, decisions: GivenDecisions | null, place: MessagePlace | undefined): OnBusy {
  if (decisions) return 'reject'
  return place && onBusy !== 'interrupt' ? 'reject' : onBusy
}

/** The `AgentCapabilities` of AG-UI. */
const capabilities = {
  transport: { streaming: true, resumable: true },
  tools: { supported: true, clientProvided: true },
  reasoning: { supported: true, streaming: true },
  humanInTheLoop: { supported: true, approvals: true, interrupts: true },
}

interface Run {
  by: ChatRequest & { sessionId: string; session: ChatSession }
  body: RunAgentInput
  input: RunInput
  onBusy: OnBusy
  signedIn: SignedIn
}

/** Sends what a run brings. `given`: the calls whose results it brings. */
async function sendRun(
  deps: SendDependencies,
  { by, body, input, onBusy, signedIn }: Run,
  exchange: { request: FastifyRequest; reply: FastifyReply },
): Promise<SentAnswer & { follows: boolean; given: readonly string[] }> {
  const { text, asMessages } = input
  // The prefix keeps runs apart from the keys of other clients of the session.
  const idempotency = { key: `ag-ui:${body.runId}`, bodyHash: hashOf(asMessages ? text : input.resume) }
  const decisions = await decisionsFor(deps, by, input, signedIn)
  const place = by.session.isNew ? undefined : await placeOfRun(deps, by, input)
  const message = {
    text,
    answers: await answersFor(deps, by, input, place),
    place,
    idempotency,
    onBusy: effectiveOnBusy(onBusy, decisions, place),
    ...(input.named && { sentAs: input.named.id }),
    instructions: await pageInstructions(deps, by, input.instructions, exchange.reply),
    ...broughtFunctions(body.tools),
    ...(decisions && { decisions }),
  }
  const reused = 'runId: was used for another message'
  const sent = await sendMakingSession(deps, { ...by, ...exchange }, message, { reused })
  const given = asMessages ? (decisions?.calls ?? []).map(({ id }) => id) : []
  return { ...sentAnswer(sent, exchange.reply), follows: decisions !== null, given }
}

export const agUiHandlers = (deps: SendDependencies) =>
  ({
    runAgUi: async ({ params, body, caller, request, reply }) => {
      const { threadId, runId } = body
      const input = readRunInput(body)
      const { user, onBusy } = readForwarded(body.forwardedProps)
      const chat = { agentId: params.agent_id, caller, user: chatUser(caller, user), chatId: threadId }
      const session = await chatSession(deps.sql, chat)
      if (!opensId(caller, session.sessionId)) missing('session')
      const by = { ...chat, sessionId: session.sessionId, session }
      const resolved = (input.resume ?? []).flatMap(({ id, isResolved }) => (isResolved ? [id] : []))
      const signedIn = await repliesAfterSignIns(deps.sql, by, resolved)
      const followed = afterSignIns(deps, by, input, signedIn)
      const { source, onLeft, follows, given } = followed
        ? { source: followed, onLeft: () => {}, follows: true, given: [] }
        : await sendRun(deps, { by, body, input, onBusy, signedIn }, { request, reply })
      const id = replyIdOf(source)
      const run = { threadId, runId }
      // Read after the stream has opened: the message is stored by then, and 503 would say that nothing is stored.
      const open = async () => {
        const earlier = follows ? await repliesBefore(deps.sql, id) : []
        return knowingBelow(deps.sql, id, createRunEncoder(run, id, earlier, given))
      }
      const never: Encoding['never'] = (error) =>
        encodeFrames(createRunEncoder(run, id), [{ seq: 0, type: 'failed', error }])
      await streamBatches(reply, source, 0, { open, never }, onLeft)
      return undefined
    },
    async readAgUiCapabilities({ params }) {
      if ((await findAgent(deps.sql, params.agent_id)) === null) missing('agent')
      return capabilities
    },
  }) satisfies DeployHandlers<'agUi'>
