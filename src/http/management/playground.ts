/** The playground (specification 4.13, contract section 5): the deploy API's sessions, with more to see and to set. */
import type { components } from '../../../openapi/generated/schema.ts'
import type { GenerationConfig, ModelRequest, Toolbox } from '../../actors/ports.ts'
import type { SessionHost } from '../../actors/session-host.ts'
import type { AgentForCompletion } from '../../persistence/agents.ts'
import { findConnection } from '../../persistence/providers.ts'
import type { Message } from '../../persistence/sessions.ts'
import * as sessions from '../../persistence/sessions.ts'
import { type AgentRooms, agentRequest, loadAgent } from '../agent-request.ts'
import { playgroundFrame } from '../completion-frames.ts'
import { refuse } from '../deploy/errors.ts'
import { badRequest, missing } from '../http-error.ts'
import type { Handlers } from '../mount.ts'
import { lastEventId, streamReply } from '../reply-stream.ts'
import { listAs } from './list.ts'

export interface PlaygroundRooms extends AgentRooms {
  host: SessionHost
  toolbox: Toolbox
}

type ChatRequest = components['schemas']['PlaygroundChatRequest']

/** The agent with the request's overrides; what they leave out (or null) stays. Throws 400 for an unknown provider. */
async function overridden(
  rooms: PlaygroundRooms,
  agent: AgentForCompletion,
  overrides: NonNullable<ChatRequest['configOverrides']>,
): Promise<AgentForCompletion> {
  const { providerId, model } = overrides
  const provider = providerId == null ? agent.provider : await findConnection(rooms.sql, providerId)
  if (provider === null) return badRequest('configOverrides.providerId: there is no such provider')
  const config: GenerationConfig = { ...agent.generationConfig }
  for (const key of ['temperature', 'topP', 'topK', 'maxToolCalls'] as const) {
    const value = overrides[key]
    if (value != null) config[key] = value
  }
  return { ...agent, provider, model: model ?? agent.model, generationConfig: config }
}

/** The session that is asked for, or a new one. Throws 404. */
async function sessionFor(rooms: PlaygroundRooms, agentId: string, sessionId: string | null | undefined) {
  return sessionId == null
    ? ((await sessions.createSession(rooms.sql, agentId, null)) ?? missing('agent'))
    : ((await sessions.findSession(rooms.sql, agentId, sessionId)) ?? missing('session'))
}

function toolCallsOf({ toolEvents }: Message) {
  return toolEvents.flatMap(({ event, offset }) => {
    if (event.type !== 'tool_call') return []
    const { id, name, startedAt } = event
    const result = toolEvents.map((other) => other.event).find((e) => e.type === 'tool_result' && e.id === id)
    const { ok, content, durationMs } =
      result?.type === 'tool_result' ? result : { ok: null, content: null, durationMs: null }
    return [{ id, name, arguments: event.arguments, ok, content, offset, startedAt, durationMs }]
  })
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
  createdAt: message.createdAt,
})

export const playgroundHandlers = (rooms: PlaygroundRooms) => {
  const { sql, host, toolbox } = rooms
  return {
    listPlaygroundSessions: ({ params, query }) =>
      listAs('sessions', query, async (page) => (await sessions.listSessions(sql, params.agent_id, page)) ?? missing('agent')),
    createPlaygroundSession: async ({ params, body }) =>
      (await sessions.createSession(sql, params.agent_id, body?.title ?? null)) ?? missing('agent'),
    deletePlaygroundSession: async ({ params }) => {
      if (!(await sessions.deleteSession(sql, params.agent_id, params.session_id))) missing('session')
      host.forget(params.session_id.toLowerCase())
    },
    listPlaygroundMessages: async ({ params }) => {
      const messages = (await sessions.listMessages(sql, params.agent_id, params.session_id)) ?? missing('session')
      return { messages: messages.map(wireMessage) }
    },
    createPlaygroundChat: async ({ params, body, reply }) => {
      const agent = await overridden(rooms, await loadAgent(rooms, params.agent_id), body.configOverrides ?? {})
      const request: Omit<ModelRequest, 'messages' | 'tools'> = agentRequest(rooms, agent)
      const session = await sessionFor(rooms, agent.id, body.sessionId)
      const sent = await host.send({
        agentId: agent.id,
        sessionId: session.id,
        text: body.message,
        model: agent.model,
        includeUsage: false,
        idempotency: null,
        isRetry: false,
        onBusy: 'reject',
        request,
        toolbox,
      })
      if (sent.outcome !== 'started' && sent.outcome !== 'joined') return refuse(sent.outcome)
      reply.header('x-session-id', session.id)
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
