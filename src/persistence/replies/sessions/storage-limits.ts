/** Limits on sessions and on what they hold (contract sections 26 and 35). */
export interface StorageLimits {
  /** Most bytes of one session. Null means no limit. */
  sessionBytes: number | null
  /** Most bytes of all sessions that one user has with one agent. Null means no limit. */
  userBytes: number | null
  /** Most sessions that one user has with one agent. Null means no limit. */
  userSessions: number | null
}

export const noLimits: StorageLimits = { sessionBytes: null, userBytes: null, userSessions: null }

/** The limit that prevented the storing. */
export type Full = 'session_full' | 'user_full' | 'too_many_sessions'

/** Returns the limits in the form that the SQL functions take. */
export const limitColumns = ({ sessionBytes, userBytes, userSessions }: StorageLimits) => ({
  max_session_bytes: sessionBytes ?? undefined,
  max_user_bytes: userBytes ?? undefined,
  max_user_sessions: userSessions ?? undefined,
})
