/**
 * Counts what requests hold in memory, counted as it arrives, in shares: nobody takes what others need (contract
 * section 26).
 */
import { HttpError } from '../http-error.ts'

const MIB = 2 ** 20

/** Bodies of up to this size always pass, so they count for nobody. */
export const FREE_BYTES = 16 * 1024

export const SHARES = {
  /** Routes that need no credential. Their bodies are smaller than what always passes. */
  open: { bytes: 16 * MIB, holders: 1 },
  management: { bytes: 128 * MIB, holders: 1 },
  /** A holder's eighth fits a stateless request that is full: 40 MiB of pictures and files beside 4 MiB of text. */
  deploy: { bytes: 384 * MIB, holders: 8 },
} as const

/** The bytes that one request holds, under its holder's name. */
export interface Account {
  /** Returns false when the holder or the whole share would hold too much. Caches are evicted before that. */
  hold(bytes: number): boolean
  release(bytes: number): void
  /** The most bytes that this request alone may hold. */
  readonly mostBytes: number
  /** Calls `drop` when the memory is needed, which releases what it has. The function that is returned ends that. */
  cache(drop: () => void): () => void
}

export interface Share {
  account(holder: string): Account
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the request's account. Set by `registerJson`, for requests whose credential was checked. */
    accountOf(request: FastifyRequest): Account
  }
}

let heldByAll = 0

/** Returns what is held in all shares now, in bytes, for tests. */
export const heldBytes = (): number => heldByAll

/**
 * Divides `bytes` among `holders`, each of which may hold its part at most. A body of `largestBody` bytes fits in any case
 * when it is alone.
 */
export function createShare({ bytes, holders }: { bytes: number; holders: number }, largestBody: number): Share {
  const most = Math.max(bytes, largestBody)
  const mostBytes = Math.max(bytes / holders, largestBody)
  const heldBy = new Map<string, number>()
  const caches = new Map<() => void, string>()
  let held = 0
  const change = (holder: string, by: number) => {
    held += by
    heldByAll += by
    const now = (heldBy.get(holder) ?? 0) + by
    if (now === 0) heldBy.delete(holder)
    else heldBy.set(holder, now)
  }
  const isTooMuchFor = (holder: string, added: number) => (heldBy.get(holder) ?? 0) + added > mostBytes
  const isTooMuch = (added: number) => held + added > most
  /** Drops all caches when the share is full, else only the holder's own. */
  const evict = (holder: string, added: number) => {
    for (const [drop, of] of caches) if (of === holder || isTooMuch(added)) drop()
  }
  return {
    account: (holder) => ({
      mostBytes,
      hold(added) {
        if (isTooMuchFor(holder, added) || isTooMuch(added)) evict(holder, added)
        if (isTooMuchFor(holder, added) || isTooMuch(added)) return false
        change(holder, added)
        return true
      },
      release: (given) => change(holder, -given),
      cache(drop) {
        caches.set(drop, holder)
        return () => caches.delete(drop)
      },
    }),
  }
}

/** Returns the error for more than may be held now: a client may come again. */
export const tooMuchAtOnce = () =>
  new HttpError(503, 'Too many request bodies are arriving at the moment.', { 'retry-after': '2' })
