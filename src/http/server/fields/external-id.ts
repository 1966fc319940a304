/** Ids that front ends give their chats and threads (contract section 25). */
import { isUuid } from '../../../persistence/postgres/uuid.ts'

const MOST_CHARACTERS = 200

/** Returns what is wrong with a chat's id, or null. A UUID is the session's own id, anything else its external one. */
export function chatIdFault(id: string): string | null {
  const length = [...id].length
  if (length < 1 || length > MOST_CHARACTERS) return `must have 1 to ${MOST_CHARACTERS} characters`
  if (/\p{Cc}/u.test(id)) return 'must not hold control characters'
  // As a step of a path both mean another one, however they are encoded.
  return id === '.' || id === '..' ? 'must not be "." or ".."' : null
}

/** Returns what is wrong with an external id, or null. */
export const externalIdFault = (id: string): string | null =>
  isUuid(id) ? 'must not be a UUID: that is `id`' : chatIdFault(id)
