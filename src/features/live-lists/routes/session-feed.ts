/** Tells those who follow lists of sessions what has changed, in the order of commits (contract section 22). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { existingAgents, readChanges, readHorizon, type SessionChange, userHash } from '../store/session-changes.ts'
import { type ChangeReaderOptions, createChangeReader, PAGE } from './change-reader.ts'
import { createHorizon } from './horizon.ts'

export interface FollowQuery {
  /** Null stands for all agents. */
  agentId: string | null
  /** All that are given must hold. Null stands for all users. */
  users: readonly (string | null)[]
  /** The number of the last change that the follower knows. */
  after: number
}

export interface SessionFeed {
  /**
   * Returns the number of the newest change: what is read from now on shows it and all before it. Null when that cannot
   * be told, because a transaction has been writing sessions for long, and no earlier one is known.
   */
  position(): Promise<number | null>
  /** Yields changes in order, as they come. Ends when `signal` aborts, or the agent is deleted. */
  follow(query: FollowQuery, signal: AbortSignal): AsyncGenerator<SessionChange[]>
}

const includes = ({ agentId, users }: FollowQuery, change: SessionChange): boolean =>
  (agentId === null || change.agentId === agentId) &&
  users.every((user) => user === null || (change.deleted ? change.userHash === userHash(user) : change.user === user))

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

  /** Returns the next changes of a follower that is behind, and up to where they reach. */
  async function nextOf(query: FollowQuery, at: number, to: number): Promise<{ changes: SessionChange[]; at: number }> {
    const { agentId, users } = query
    const batch = reader.batch()
    // At its end a batch has no more to tell: whoever asked for a position since has moved the horizon beyond it, and taking the
    // same batch again would go on for ever, without a pause in which the next one could be read.
    const isWithin = batch !== null && at >= batch.after && at < batch.to
    if (batch?.changes && isWithin && (batch.agentIds.has(agentId) || batch.agentIds.has(null))) {
      return { changes: batch.changes.filter((change) => change.id > at && includes(query, change)), at: batch.to }
    }
    const user = users.find((name) => name !== null) ?? null
    const page = { after: at, to, agentIds: agentId === null ? null : [agentId], user, limit: PAGE }
    const found = await readChanged(page)
    const changes = found.filter((change) => includes(query, change))
    return { changes, at: found.length < PAGE ? to : (found.at(-1)?.id ?? to) }
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
      const end = reader.begin(query.agentId)
      try {
        while (!signal.aborted) {
          const to = Math.max(missed, reader.batch()?.to ?? 0)
          if (at < to) {
            const next = await nextOf(query, at, to)
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
      } finally {
        reader.waiting.delete(wake)
        signal.removeEventListener('abort', leave)
        end()
      }
    },
  }
}
