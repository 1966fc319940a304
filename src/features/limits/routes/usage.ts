/** Tokens used (contract section 8). */

import { EARLIEST, readMoment } from '../../../http/server/fields/moment.ts'
import { badRequest } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import { readUsage } from '../store/usage/usage.ts'
import { readUsageFigures } from '../store/usage/usage-figures.ts'

const DAY_MS = 86_400_000
/** The time by which `from` lies when it is not given. */
const USUAL_MS = 30 * DAY_MS

export interface UsageDependencies {
  sql: Sql
  /** Resolves when every reply that has ended here is counted. */
  usageStored(): Promise<void>
}

export const usageHandlers = ({ sql, usageStored }: UsageDependencies) =>
  ({
    getUsage: async ({ query }) => {
      const { from, to } = readPeriod(query)
      await usageStored()
      const rows = await readUsage(sql, { from, to, groupBy: query.groupBy, agentId: agentOf(query) })
      return { from: from.toISOString(), to: to.toISOString(), rows }
    },
    getUsageFigures: async ({ query }) => {
      const { from, to } = readPeriod(query)
      await usageStored()
      const rows = await readUsageFigures(sql, { from, to, groupBy: query.groupBy })
      return { from: from.toISOString(), to: to.toISOString(), rows }
    },
  }) satisfies Handlers<'usage'>

/** Returns the agent whose versions are asked for. Throws 400 where one is missing, or has no use. */
function agentOf({ groupBy, agentId }: { groupBy: string; agentId?: string | undefined }): string | undefined {
  if (groupBy !== 'version' && agentId !== undefined) badRequest('agentId: only together with groupBy=version')
  if (groupBy !== 'version') return undefined
  if (agentId === undefined) return badRequest('agentId: is required with groupBy=version')
  return isUuid(agentId) ? agentId : badRequest('agentId: must be the id of an agent')
}

/** Throws 400. */
function readPeriod(query: { from?: string | undefined; to?: string | undefined }): { from: Date; to: Date } {
  // The end is not included; what has ended in this millisecond is.
  const to = query.to === undefined ? new Date(Date.now() + 1) : readMoment('to', query.to)
  const usual = Math.max(to.getTime() - USUAL_MS, EARLIEST.getTime())
  const from = query.from === undefined ? new Date(usual) : readMoment('from', query.from)
  if (from > to) badRequest('from: must not be later than to')
  return { from, to }
}
