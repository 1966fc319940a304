/** Reads changes of sessions for all followers of this instance at once; while there are none, nothing is read. */
import { pause } from '../../../async/pause.ts'
import type { ChangesPage, ChangesQuery, SessionChange } from '../store/session-changes.ts'
import type { Horizon } from './horizon.ts'

/**
 * The interval of readings. Followers see changes within two readings: the first names the writers that the second
 * finds gone.
 */
const READ_MS = 250
/** Readings between two looks for agents that were deleted. */
const AGENTS_EVERY = 8
/** Changes that are kept for followers, or read by one of them at a time. */
export const PAGE = 500

/** The changes of the last reading that found any. */
export interface Batch {
  after: number
  to: number
  /** Null among them: all. */
  agentIds: ReadonlySet<string | null>
  /** Null when there are too many to be kept. Followers read them page by page. */
  changes: readonly SessionChange[] | null
}

export interface ChangeReaderOptions {
  horizon: Horizon
  changes(query: ChangesQuery): Promise<ChangesPage>
  /** Returns those of these agents that exist. */
  agents(ids: readonly string[]): Promise<Set<string>>
  /** Tells of a fault, once an outage. */
  onFault(error: unknown): void
}

export interface ChangeReader {
  /** Returns null when there has been none. */
  batch(): Batch | null
  /** Returns the number by which all sessions of a deleted agent are gone. Null when the agent is there. */
  goneAt(agentId: string): number | null
  /** Called after each reading that found something. */
  readonly waiting: Set<() => void>
  /** Counts one more follower of the agent; null: of all. The returned function is called when it leaves. */
  begin(agentId: string | null): () => void
}

export function createChangeReader({ horizon, changes: read, agents, onFault }: ChangeReaderOptions): ChangeReader {
  const followed = new Map<string | null, number>()
  const goneAt = new Map<string, number>()
  const waiting = new Set<() => void>()
  let batch: Batch | null = null
  let reading: AbortController | null = null
  let falls = horizon.falls()

  async function deletedAgents(): Promise<string[]> {
    const ids = [...followed.keys()].filter((id) => id !== null)
    if (ids.length === 0) return []
    const there = await agents(ids)
    return ids.filter((id) => !there.has(id))
  }

  /** Resolves to the number up to which it has read. */
  async function readNew(from: number, looksForAgents: boolean): Promise<number> {
    const gone = looksForAgents ? await deletedAgents() : []
    await horizon.advance()
    if (horizon.falls() !== falls) {
      falls = horizon.falls()
      batch = null
      goneAt.clear()
      for (const wake of waiting) wake()
      return horizon.safe() ?? horizon.newest()
    }
    for (const id of gone) if (!goneAt.has(id)) goneAt.set(id, horizon.newest())
    const to = horizon.safe() ?? from
    if (to > from) {
      const agentIds = new Set(followed.keys())
      const named = agentIds.has(null) ? null : [...agentIds].filter((id) => id !== null)
      const page = await read({ after: from, to, agentIds: named, limit: PAGE })
      batch = { after: from, to, agentIds, changes: page.to === to ? page.changes : null }
    }
    if (to > from || goneAt.size > 0) for (const wake of waiting) wake()
    return to
  }

  /** Reads on and on. It never rejects. */
  async function readOn(signal: AbortSignal): Promise<void> {
    let at = horizon.safe() ?? 0
    let failed = false
    for (let n = 0; !signal.aborted; n++) {
      try {
        at = await readNew(at, n % AGENTS_EVERY === 0)
        failed = false
      } catch (error) {
        if (!failed) onFault(error)
        failed = true
      }
      await pause(READ_MS, signal)
    }
  }

  function end(agentId: string | null): void {
    const left = (followed.get(agentId) ?? 1) - 1
    if (left > 0) followed.set(agentId, left)
    else {
      followed.delete(agentId)
      if (agentId !== null) goneAt.delete(agentId)
    }
    if (followed.size > 0) return
    reading?.abort()
    reading = null
  }

  return {
    batch: () => batch,
    goneAt: (agentId) => goneAt.get(agentId) ?? null,
    waiting,
    begin(agentId) {
      followed.set(agentId, (followed.get(agentId) ?? 0) + 1)
      if (reading === null) {
        reading = new AbortController()
        batch = null
        void readOn(reading.signal)
      }
      return () => end(agentId)
    },
  }
}
