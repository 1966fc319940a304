/**
 * The users whose client secrets are revoked, as this instance knows it (contract section 11). What others have revoked
 * comes by polling: a request asks no database, and while that is away what is known counts. The version of the
 * configuration could carry revocations too, but each would make every agent's next message `stale`, everywhere.
 */

import { revokedSecret } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { FIRST_HORIZON, type Revocation, type Revocations, readRevocations } from '../store/users.ts'
import type { ClientSecret } from './caller.ts'

/** Older revocations have outlived every secret that they could refuse (two hours). */
const KEPT_MS = 3 * 3600_000

interface Known {
  number: number
  /** Monotonic, of this process. */
  since: number
}

interface Watched {
  number: number
  controller: AbortController
}

export interface RevocationList {
  /** Throws `Unauthorized`. */
  check(secret: ClientSecret): void
  /** Aborts, with `Unauthorized` as its reason, when the secret is revoked. Ends with `stop`. */
  watch(secret: ClientSecret): { signal: AbortSignal; stop(): void }
  /** Adds what was revoked here: it need not be polled. */
  add(revocation: Revocation): void
  /** Reads what was revoked elsewhere. */
  poll(): Promise<void>
}

const keyOf = ({ agentId, user }: { agentId: string; user: string }): string => `${agentId} ${user}`

/** Makes the list. `read` is given the horizon of its last result. */
export function createRevocationList(read: (horizon: string) => Promise<Revocations>): RevocationList {
  const known = new Map<string, Known>() // the newest last
  const watched = new Map<string, Set<Watched>>()
  let horizon = FIRST_HORIZON

  function add(revocation: Revocation): void {
    const key = keyOf(revocation)
    const { number } = revocation
    const before = known.get(key)
    if (before && before.number >= number) return
    known.delete(key)
    known.set(key, { number, since: performance.now() })
    for (const one of watched.get(key) ?? []) if (one.number < number) one.controller.abort(revokedSecret())
  }

  function forgetOld(): void {
    for (const [key, { since }] of known) {
      if (performance.now() - since < KEPT_MS) return
      known.delete(key)
    }
  }

  const isRevoked = (secret: ClientSecret): boolean => secret.number < (known.get(keyOf(secret))?.number ?? 0)

  return {
    add,
    check(secret) {
      if (isRevoked(secret)) throw revokedSecret()
    },
    watch(secret) {
      const one = { number: secret.number, controller: new AbortController() }
      if (isRevoked(secret)) one.controller.abort(revokedSecret())
      const key = keyOf(secret)
      const all = watched.get(key) ?? new Set()
      watched.set(key, all.add(one))
      return {
        signal: one.controller.signal,
        stop() {
          all.delete(one)
          if (all.size === 0 && watched.get(key) === all) watched.delete(key)
        },
      }
    },
    async poll() {
      const found = await read(horizon)
      for (const one of found.revoked) add(one)
      horizon = found.horizon
      forgetOld()
    },
  }
}

/** Returns the list of the stored revocations. It knows them once it has polled. */
export const storedRevocationList = (sql: Sql): RevocationList =>
  createRevocationList((horizon) => readRevocations(sql, horizon))
