/** The playground (specification 4.13, contract section 5): the deploy API's sessions, with more to see and to set. */
import type { components } from '../../../openapi/generated/schema.ts'
import type { GenerationConfig } from '../../actors/ports.ts'
import type { Message as NewMessage, SessionHost } from '../../actors/session-host.ts'
import type { AgentForCompletion } from '../../persistence/records/agent-lookup.ts'
import { findConnection } from '../../persistence/records/providers.ts'
import type { Message, MessageQuery } from '../../persistence/replies/sessions.ts'
import * as sessions from '../../persistence/replies/sessions.ts'
import { type AgentRooms, agentRequest, agentToolbox, loadAgent } from '../agent-for-reply.ts'
import { playgroundFrame } from '../completion-frames.ts'
import { badRequest, missing } from '../http-error.ts'
import { listAs } from '../list.ts'
import { pageOf } from '../message-page.ts'
import type { Handlers } from '../mount.ts'
import { makeSession } from '../new-session.ts'
import { originOf } from '../observe-requests.ts'
import { refuse } from '../refusals.ts'
import { lastEventId, streamReply } from '../reply-stream.ts'
import { choiceFor } from './tool-choice.ts'

export interface PlaygroundRooms extends AgentRooms {
  host: SessionHost
  builtInTools: readonly { id: string }[]
}

type ChatRequest = components['schemas']['PlaygroundChatRequest']

/**
 * The agent with the request's overrides and tools; what they leave out (or null) stays. Throws 400 for an unknown
 * provider or tool.
 */
async function overridden(
  rooms: PlaygroundRooms,
  agent: AgentForCompletion,
  chat: ChatRequest,
): Promise<AgentForCompletion> {
  const overrides = chat.configOverrides ?? {}
  const { providerId, model } = overrides
  const provider = providerId == null ? agent.provider : await findConnection(rooms.sql, providerId)
  if (provider === null) return badRequest('configOverrides.providerId: there is no such provider')
  const config: GenerationConfig = { ...agent.generationConfig }
  for (const key of ['temperature', 'topP', 'topK', 'maxToolCalls'] as const) {
    const value = overrides[key]
    if (value != null) config[key] = value
  }
  const tools = await choiceFor(rooms, agent.tools, chat)
  return { ...agent, provider, model: model ?? agent.model, generationConfig: config, tools }
}

/** The session that is asked for, or a new one. Throws 404. */
async function sessionFor(rooms: PlaygroundRooms, agentId: string, sessionId: string | null | undefined) {
  return sessionId == null
    ? await makeSession(rooms.sql, agentId, {})
    : ((await sessions.findSession(rooms.sql, agentId, sessionId)) ?? missing('session'))
}

type ToolCallShown = components['schemas']['PlaygroundToolCall']

/** A result belongs to the oldest call of its id that has none: models repeat ids. */
function toolCallsOf({ toolEvents }: Message): ToolCallShown[] {
  const calls: ToolCallShown[] = []
  for (const { event, offset } of toolEvents) {
    if (event.type === 'tool_call') {
      const { id, name, startedAt } = event
      calls.push({ id, name, arguments: event.arguments, ok: null, content: null, offset, startedAt, durationMs: null })
    } else if (event.type === 'tool_result') {
      const { id, ok, content, durationMs } = event
      const call = calls.find((one) => one.id === id && one.ok === null)
      if (call) Object.assign(call, { ok, content, durationMs })
    }
  }
  return calls
}

const wireMessage = (message: Message) => ({
  id: message.id,
  sessionId: message.sessionId,
  role: message.role,
  content: message.content,
  status: message.status,
  finishReason: message.finishReason,
  error: message.errorCode === null ? null : { code: message.errorCode, message: message.errorDetail ?? '' },
  toolCalls: toolCallsOf(message),
  ...(message.role === 'assistant' && { model: message.model }),
  createdAt: message.createdAt,
  ...(message.reasoning !== null && { reasoning: message.reasoning }),
  ...(message.reasoningMs !== null && { reasoningMs: message.reasoningMs }),
})

export const playgroundHandlers = (rooms: PlaygroundRooms) => {
  const { sql, host } = rooms
  return {
    listPlaygroundSessions: ({ params, query }) =>
      listAs(
        'sessions',
        query,
        async (page) => (await sessions.listSessions(sql, params.agent_id, page)) ?? missing('agent'),
      ),
    createPlaygroundSession: ({ params, body: { title, user, metadata } }) =>
      makeSession(sql, params.agent_id, { title, user, metadata }),
    getPlaygroundSession: async ({ params }) =>
      (await sessions.findSession(sql, params.agent_id, params.session_id)) ?? missing('session'),
    deletePlaygroundSession: async ({ params }) => {
      const { owners } = (await sessions.deleteSession(sql, params.agent_id, params.session_id)) ?? missing('session')
      host.forget([params.session_id.toLowerCase()], owners)
    },
    listPlaygroundMessages: async ({ params, query }) => {
      const list = (page: MessageQuery) => sessions.listMessages(sql, params.agent_id, params.session_id, page)
      const messages = (await pageOf(query, list)) ?? missing('session')
      return { messages: messages.map(wireMessage) }
    },
    createPlaygroundChat: async ({ params, body, request, reply }) => {
      const agent = await overridden(rooms, await loadAgent(rooms, params.agent_id), body)
      const asked: NewMessage['request'] = { ...agentRequest(rooms, agent), reasoning: true }
      const session = await sessionFor(rooms, agent.id, body.sessionId)
      const sending = host.send({
        agentId: agent.id,
        agentName: agent.name,
        sessionId: session.id,
        user: null,
        text: body.message,
        model: agent.model,
        configuration: null,
        includeUsage: false,
        idempotency: null,
        isRetry: false,
        onBusy: 'reject',
        request: asked,
        origin: originOf(request),
        openToolbox: agentToolbox(rooms, agent),
      })
      // Nothing is stored of a refused message: not the session that was made for it either.
      const forget = () =>
        body.sessionId == null ? sessions.deleteSession(sql, agent.id, session.id).catch(() => null) : null
      const sent = await sending.catch(async (error: unknown) => {
        await forget()
        throw error
      })
      const isRefused = sent.outcome !== 'started' && sent.outcome !== 'joined'
      if (isRefused && sent.outcome !== 'unknown') await forget()
      else reply.header('x-session-id', session.id)
      if (isRefused) return refuse(sent.outcome)
      const onLeft = sent.outcome === 'started' ? sent.requesterLost : undefined
      await streamReply(reply, sent.reply, 0, playgroundFrame, onLeft)
      return undefined
    },
    resumePlaygroundChat: async ({ params, request, reply }) => {
      const newest = await sessions.newestReply(sql, params.agent_id, params.session_id)
      if (!newest.found) missing('session')
      const after = lastEventId(request.headers['last-event-id'])
      const found = newest.replyId === null ? null : await host.open(newest.replyId)
      if (found === null) return reply.code(204).send()
      await streamReply(reply, found, after, playgroundFrame)
      return undefined
    },
    cancelPlaygroundChat: async ({ params }) => {
      const session = (await sessions.findSession(sql, params.agent_id, params.session_id)) ?? missing('session')
      await host.cancel(session.id)
    },
  } satisfies Handlers<'playground'>
}
