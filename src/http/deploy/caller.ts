/** Who a deploy request comes from, and what each may reach (specification 5.1, contract section 11). */
import { HttpError, missing } from '../http-error.ts'

/** What a client secret says of itself. */
export interface ClientSecret {
  kind: 'secret'
  agentId: string
  user: string
  /** The only session that it opens. Null: all of its user's. */
  sessionId: string | null
  /** Its place among all secrets and revocations. */
  number: number
}

/** `key`: the deploy key. `anyone`: no key is set, and nothing was sent that limits. Both may do everything. */
export type Caller = { kind: 'key' } | { kind: 'anyone' } | ClientSecret

/** What an operation says of client secrets: `Operation.secret`. */
export type SecretRule = 'sessions' | 'session' | undefined

/** Throws 403 for an operation that the caller may not use at all, whatever it names. */
export function requirePermission(caller: Caller, rule: SecretRule): void {
  if (caller.kind !== 'secret' || rule === 'session') return
  if (rule === undefined) throw new HttpError(403, 'A client secret does not open this: it needs the deploy key.')
  if (caller.sessionId !== null) throw new HttpError(403, 'This client secret opens one session alone.')
}
