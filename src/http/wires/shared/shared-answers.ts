/** The answers to a share's token (contract section 31), instead of those that the same paths give to other credentials. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Frame } from '../../../actors/reply/reply-event.ts'
import type { SessionHost } from '../../../actors/session/host.ts'
import { answerPart, partPath } from '../../../features/parts/index.ts'
import { type Message, type MessageQuery, newestReply } from '../../../features/sessions/index.ts'
import { type OpenedShare, readShared, shownEnd, showsMessage } from '../../../features/shares/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { badRequest, missing } from '../../server/http-error.ts'
import { answerMessages } from '../../server/paging/message-page.ts'
import { lastEventId, streamBatches } from '../../streaming/reply-stream.ts'
import { completionHead, createFrameEncoder, errorChunk } from '../chat/completion-frames.ts'
import { toolCallsOf } from '../playground/shown-calls.ts'

/** A checked request that a share was sent with. */
export interface SharedRequest {
  params: { agent_id: string; session_id: string; message_id: string; n: string }
  query: MessageQuery & { reply?: string | undefined }
  request: FastifyRequest
  reply: FastifyReply
}

/** The readers by the ids of the operations that a share opens. */
export type SharedReaders = Readonly<Record<string, (asked: SharedRequest, share: OpenedShare) => Promise<unknown>>>

/** The message names nothing of the agent, its provider and its tools. */
const FAILED = 'The reply failed.'

/** The name that chunks carry instead of the model's. */
const NO_MODEL = 'shared'

const sharedMessage =
  ({ include }: OpenedShare) =>
  (message: Message) => {
    const { id: messageId, agentId, sessionId } = message
    const pictures = message.parts.flatMap((part, n) =>
      part.type === 'image_url'
        ? [
            {
              type: part.type,
              url: partPath('deploy', { agentId, sessionId, messageId, n: `${n}` }),
              media_type: part.mediaType,
              filename: part.filename,
              size: part.size,
            },
          ]
        : [],
    )
    const calls = include.includes('tools')
      ? toolCallsOf(message).map(({ id, name, arguments: text, ok, content, offset }) => ({
          ...{ id, name, arguments: text, ok, content, offset },
        }))
      : []
    return {
      id: message.id,
      parent_id: message.parentId,
      role: message.role,
      content: message.content,
      status: message.status,
      finish_reason: message.finishReason,
      created_at: message.createdAt,
      ...(pictures.length > 0 && { parts: pictures }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(include.includes('reasoning') && message.reasoning !== null && { reasoning: message.reasoning }),
    }
  }

/** Returns the frame as the share shows it. Null when it is left out. */
export function sharedFrame({ include }: Pick<OpenedShare, 'include'>, frame: Frame): Frame | null {
  const [tools, reasoning] = [include.includes('tools'), include.includes('reasoning')]
  switch (frame.type) {
    case 'started':
    case 'text':
    case 'done':
      return frame
    case 'reasoning':
      return reasoning ? frame : null
    case 'calls':
      return tools ? frame : null
    case 'finished':
      return { ...frame, showsCalls: tools && frame.showsCalls === true }
    case 'failed':
      return { ...frame, error: { code: frame.error.code, message: FAILED, detail: '' } }
    case 'stored': {
      const { type } = frame.stored.event
      return type === 'text' || (type === 'reasoning' && reasoning) ? frame : null
    }
    case 'usage':
    case 'state':
      return null
    default:
      return frame satisfies never
  }
}

/** Returns the readers. */
export const sharedReaders = ({ sql, host }: { sql: Sql; host: Pick<SessionHost, 'open'> }): SharedReaders => ({
  getSession: async (_asked, share) => {
    const { id, title, status, createdAt, updatedAt } = (await readShared(sql, share)) ?? missing('session')
    return { id, title, status, created_at: createdAt, updated_at: updatedAt }
  },
  listSessionMessages: async ({ params, query: { limit, after, before }, reply }, share) => {
    for (const [name, id] of Object.entries({ after, before })) {
      if (id !== undefined && !(await showsMessage(sql, share, id)))
        badRequest(`${name}: there is no such message in this session`)
    }
    const end = await shownEnd(sql, share)
    if (end === null) return { messages: [] }
    return await answerMessages(sql, params, { limit, after, before, head: end }, { reply, show: sharedMessage(share) })
  },
  getMessagePart: async ({ params, reply }, share) => {
    if (!(await showsMessage(sql, share, params.message_id))) missing('part')
    await answerPart(sql, params, reply, { picturesOnly: true })
  },
  resumeSessionCompletion: async ({ params, query, request, reply }, share) => {
    const { replyId } = await newestReply(sql, params.agent_id, params.session_id, query.reply)
    const isShown = replyId !== null && (await showsMessage(sql, share, replyId))
    if (query.reply !== undefined && !isShown) missing('reply')
    const after = lastEventId(request.headers['last-event-id'])
    const found = isShown ? await host.open(replyId) : null
    if (found === null) return reply.code(204).send()
    await streamBatches(reply, found, after, {
      open({ info }) {
        const encoder = createFrameEncoder({ ...completionHead(info), model: NO_MODEL })
        const textOf = (frame: Frame) => {
          const shown = sharedFrame(share, frame)
          const data = shown && encoder.data(shown)
          return data === null ? '' : `id: ${frame.seq}\ndata: ${data}\n\n`
        }
        return (frames) => frames.map(textOf).join('')
      },
      never: ({ code }) => errorChunk({ code, message: FAILED, detail: '' }),
    })
    return undefined
  },
})
