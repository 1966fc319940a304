/**
 * The ids of a child session and of its first messages. They follow from the call: however often it is begun, it makes
 * one child.
 */
import { v5 } from 'uuid'

// An arbitrary namespace.
const NAMESPACE = 'b7a0a5d2-5f0e-4a52-9d0b-3a3c1c0f30c1'

export const childSession = (key: string): string => v5(`session ${key}`, NAMESPACE)

/** Returns the ids of the user's message and of its reply. */
export const childMessages = (key: string) => ({
  userId: v5(`message ${key}`, NAMESPACE),
  replyId: v5(`reply ${key}`, NAMESPACE),
})
