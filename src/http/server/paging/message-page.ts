/** Reads what a message list is asked for (contract section 11), on both of its paths. */
import type { FastifyReply } from 'fastify'
import {
  ListTooLong,
  listMessages,
  type Message,
  type MessageQuery,
  UnknownMessage,
} from '../../../features/sessions/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { sendInPieces } from '../../streaming/written-lists.ts'
import { badRequest, HttpError, missing } from '../http-error.ts'

/**
 * Returns the list, or the answer where that is written in pieces. Throws 400 for both ends at once and for a message
 * that is not the session's, 404, and 413.
 */
export async function answerMessages<Shown>(
  sql: Sql,
  { agent_id, session_id }: { agent_id: string; session_id: string },
  query: MessageQuery,
  { reply, show }: { reply: FastifyReply; show(message: Message): Shown },
): Promise<{ messages: Shown[] } | FastifyReply> {
  const { after, before } = query
  if (after !== undefined && before !== undefined) badRequest('after: cannot stand beside before')
  const found = await listMessages(sql, agent_id, session_id, query).catch((error: unknown) => {
    if (error instanceof ListTooLong) throw tooLong()
    if (!(error instanceof UnknownMessage)) throw error
    return badRequest(`${after === undefined ? 'before' : 'after'}: there is no such message in this session`)
  })
  const messages = found ?? missing('session')
  return Array.isArray(messages)
    ? { messages: messages.map(show) }
    : sendInPieces(reply, { messages: shown(messages, show) })
}

/** Returns the error 413 for a long list. `where`: a list that has a limit, for one that has none. */
export const tooLong = (where = ''): HttpError =>
  new HttpError(413, `limit: the list holds more than 32 MiB; read it in pages, with a limit${where}.`)

async function* shown<Shown>(messages: AsyncIterable<Message>, show: (message: Message) => Shown) {
  for await (const message of messages) yield show(message)
}
