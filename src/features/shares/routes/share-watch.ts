/** The open streams of shares on this instance: they end when their share does. Where none is open, nothing is asked. */
import { Unauthorized } from '../../../http/server/http-error.ts'
import type { Watched } from '../../../http/streaming/break-off.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { sharesOver, type WatchedShare } from '../store/shares.ts'

export interface ShareWatch {
  /** Returns how many streams the share has open. */
  count(id: string): number
  /** Aborts with `Unauthorized` once the share is revoked or expires. Ends with `stop`. */
  watch(share: WatchedShare): Watched
  /** Looks for shares that are over. */
  poll(): Promise<void>
}

/** Makes the watch. `over` returns which of the shares are over. */
export function createShareWatch(
  over: (watched: readonly WatchedShare[]) => Promise<{ id: string; isExpired: boolean }[]>,
): ShareWatch {
  const watched = new Map<string, { sessionId: string; open: Set<AbortController> }>()
  return {
    count: (id) => watched.get(id)?.open.size ?? 0,
    watch({ id, sessionId }) {
      const controller = new AbortController()
      const one = watched.get(id) ?? { sessionId, open: new Set() }
      watched.set(id, one)
      one.open.add(controller)
      return {
        signal: controller.signal,
        stop() {
          one.open.delete(controller)
          if (one.open.size === 0 && watched.get(id) === one) watched.delete(id)
        },
      }
    },
    async poll() {
      if (watched.size === 0) return
      const all = [...watched].map(([id, { sessionId }]) => ({ id, sessionId }))
      for (const { id, isExpired } of await over(all)) {
        const reason = new Unauthorized(isExpired ? 'token_expired' : 'invalid_api_key', 'The share is over.')
        for (const controller of watched.get(id)?.open ?? []) controller.abort(reason)
      }
    },
  }
}

/** Returns the watch over the stored shares. */
export const storedShareWatch = (sql: Sql): ShareWatch => createShareWatch((watched) => sharesOver(sql, watched))
