/** Limits on what sessions hold: texts and parts of their messages (contract section 26). */
export interface StorageLimits {
  /** Most bytes of one session. Null means no limit. */
  sessionBytes: number | null
  /** Most bytes of all sessions that one user has with one agent. Null means no limit. */
  userBytes: number | null
}

export const noLimits: StorageLimits = { sessionBytes: null, userBytes: null }

/** The limit that prevented the storing. */
export type Full = 'session_full' | 'user_full'

/** Returns the limits in the form that the SQL functions take. */
export const limitColumns = ({ sessionBytes, userBytes }: StorageLimits) => ({
  max_session_bytes: sessionBytes ?? undefined,
  max_user_bytes: userBytes ?? undefined,
})
