/** How many files are uploaded at a time (contract section 32). */
import { HttpError } from '../../../http/server/http-error.ts'

const MOST_OF_INSTANCE = 32
const MOST_OF_USER = 4

/** Counts the uploads that are under way. */
export function createUploadSlots() {
  const ofUsers = new Map<string, number>()
  let ofInstance = 0
  return {
    /** Takes a place until the function that it returns is called. `user` null: its places are not counted. Throws 503. */
    take(user: string | null): () => void {
      const before = user === null ? 0 : (ofUsers.get(user) ?? 0)
      if (ofInstance >= MOST_OF_INSTANCE || before >= MOST_OF_USER) {
        throw new HttpError(503, 'Too many files are being uploaded at the moment.', { 'retry-after': '2' })
      }
      ofInstance++
      if (user !== null) ofUsers.set(user, before + 1)
      return () => {
        ofInstance--
        if (user === null) return
        const left = (ofUsers.get(user) ?? 1) - 1
        if (left === 0) ofUsers.delete(user)
        else ofUsers.set(user, left)
      }
    },
  }
}

export type UploadSlots = ReturnType<typeof createUploadSlots>
