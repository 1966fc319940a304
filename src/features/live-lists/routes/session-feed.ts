/** Tells those who follow lists of sessions what has changed, in the order of commits (contract section 22). */
import { ownTurns } from '../../../async/own-turn.ts'
import { createSemaphore } from '../../../async/semaphore.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { existingAgents, readChanges, readHorizon, type SessionChange, userHash } from '../store/session-changes.ts'
import { type ChangeReaderOptions, createChangeReader, PAGE } from './change-reader.ts'
import { createHorizon } from './horizon.ts'

export interface FollowQuery {
  /** Null stands for all agents. */
  agentId: string | null
  /** All that are given must hold. Null stands for all users. */
  users: readonly (string | null)[]
  /** Whether sessions that a call of another one made are followed too. */
  children: boolean
  /** The number of the last change that the follower knows. */
  after: number
  /** The party whose list it is: pages are read in turns by it. */
  of: string
}

export interface SessionFeed {
  /**
   * Returns the number of the newest change: what is read from now on shows it and all before it. Null when that cannot
   * be told, because a transaction has been writing sessions for long, and no earlier one is known.
   */
  position(): Promise<number | null>
  /**
   * Yields changes in order, as they come, each time in a turn of its own. Ends when `signal` aborts, or the agent is
   * deleted. Rejects when the database has lost changes, as after a failover: their numbers are given out anew.
   */
  follow(query: FollowQuery, signal: AbortSignal): AsyncGenerator<SessionChange[]>
}

/** Returns a function that tells whether a change is one of the follower's. */
function filterOf({ agentId, users, children }: FollowQuery): (change: SessionChange) => boolean {
  const named = users.flatMap((name) => (name === null ? [] : [{ name, hash: userHash(name) }]))
  return (change) =>
    (agentId === null || change.agentId === agentId) &&
    (children || change.deleted || change.session.parent === null) &&
    named.every(({ name, hash }) => (change.deleted ? change.userHash === hash : change.user === name))
}

/** The number of pages that followers who are behind read at a time. */
const PAGES_AT_ONCE = 2

/** The store of changes. */
export interface ChangeStore extends Pick<ChangeReaderOptions, 'changes' | 'agents'> {
  horizon: Parameters<typeof createHorizon>[0]
}

type OnFault = ChangeReaderOptions['onFault']

export const createSessionFeed = (sql: Sql, onFault: OnFault): SessionFeed =>
  createFeed(
    {
      horizon: () => readHorizon(sql),
      changes: (query) => readChanges(sql, query),
      agents: (ids) => existingAgents(sql, ids),
    },
    onFault,
  )

export function createFeed(
  { horizon: read, changes: readChanged, agents }: ChangeStore,
  onFault: OnFault,
): SessionFeed {
  const horizon = createHorizon(read)
  const reader = createChangeReader({ horizon, changes: readChanged, agents, onFault })
  const pages = createSemaphore(PAGES_AT_ONCE)
  const ownTurn = ownTurns()

  async function readPage(
    { agentId, users, of }: FollowQuery,
    within: { after: number; to: number },
    signal: AbortSignal,
  ) {
    const user = users.find((name) => name !== null) ?? null
    using _permit = await pages.acquire(signal, of)
    return await readChanged({ ...within, agentIds: agentId === null ? null : [agentId], user, limit: PAGE })
  }

  /** Returns the next changes of a follower that is behind, and up to where they reach. */
  async function nextOf(
    query: FollowQuery,
    { at, to, includes }: { at: number; to: number; includes: (change: SessionChange) => boolean },
    signal: AbortSignal,
  ): Promise<{ changes: SessionChange[]; at: number }> {
    const { agentId } = query
    const batch = reader.batch()
    // At its end a batch has no more to tell: whoever asked for a position since has moved the horizon beyond it, and taking the
    // same batch again would go on for ever, without a pause in which the next one could be read.
    const isWithin = batch !== null && at >= batch.after && at < batch.to
    if (batch?.changes && isWithin && (batch.agentIds.has(agentId) || batch.agentIds.has(null))) {
      return { changes: batch.changes.filter((change) => change.id > at && includes(change)), at: batch.to }
    }
    const page = await readPage(query, { after: at, to }, signal)
    return { changes: page.changes.filter(includes), at: page.to }
  }

  /** Returns whether the agent is deleted, and the follower knows of all that went with it. */
  const isOver = (agentId: string | null, at: number): boolean =>
    agentId !== null && at >= (reader.goneAt(agentId) ?? Number.POSITIVE_INFINITY)

  return {
    position: horizon.position,
    async *follow(query, signal) {
      let at = query.after
      let wake = () => {}
      const leave = () => wake()
      signal.addEventListener('abort', leave)
      const missed = horizon.safe() ?? 0
      const falls = horizon.falls()
      const includes = filterOf(query)
      const end = reader.begin(query.agentId)
      try {
        while (!signal.aborted) {
          if (horizon.falls() !== falls) throw new Error('The database has lost changes.')
          const to = Math.max(missed, reader.batch()?.to ?? 0)
          if (at < to) {
            await ownTurn()
            const next = await nextOf(query, { at, to, includes }, signal)
            at = next.at
            if (next.changes.length > 0) yield next.changes
            continue
          }
          if (isOver(query.agentId, at)) return
          await new Promise<void>((resolve) => {
            wake = resolve
            reader.waiting.add(wake)
          })
          reader.waiting.delete(wake)
        }
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        reader.waiting.delete(wake)
        signal.removeEventListener('abort', leave)
        end()
      }
    },
  }
}
