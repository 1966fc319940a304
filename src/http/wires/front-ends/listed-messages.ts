/** What a front end's own list of messages tells by their ids. */
import { isUuid } from '../../../persistence/postgres/uuid.ts'

export interface ListedMessage {
  id?: unknown
  role?: unknown
}

/** Ids of the assistants' messages, oldest first. Clients make ids of their own too. */
export const repliesIn = (messages: readonly ListedMessage[]): string[] =>
  messages.flatMap(({ id, role }) => (role === 'assistant' && typeof id === 'string' && isUuid(id) ? [id] : []))
