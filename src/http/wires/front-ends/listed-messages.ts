/** The messages of a front end's own list, by their ids. */
import { isUuid } from '../../../persistence/postgres/uuid.ts'

export interface ListedMessage {
  id?: unknown
  role?: unknown
}

/** Returns the ids of the assistant messages that are UUIDs, oldest first. Clients may use ids of their own. */
export const repliesIn = (messages: readonly ListedMessage[]): string[] =>
  messages.flatMap(({ id, role }) => (role === 'assistant' && typeof id === 'string' && isUuid(id) ? [id] : []))
