/** What a message list is asked for (contract section 11), on both of its paths. */
import { type Message, type MessageQuery, UnknownMessage } from '../persistence/replies/sessions/sessions.ts'
import { badRequest } from './server/http-error.ts'

/** Throws 400 for both ends at once, and for a message that is not the session's. */
export async function pageOf(
  query: MessageQuery,
  list: (query: MessageQuery) => Promise<Message[] | null>,
): Promise<Message[] | null> {
  const { after, before } = query
  if (after !== undefined && before !== undefined) badRequest('after: cannot stand beside before')
  return await list(query).catch((error: unknown) => {
    if (!(error instanceof UnknownMessage)) throw error
    return badRequest(`${after === undefined ? 'before' : 'after'}: there is no such message in this session`)
  })
}
