/** Tokens used (contract section 8). */
import type { Sql } from '../../../persistence/postgres/database.ts'
import { readUsage } from '../../../persistence/replies/usage/usage.ts'
import { readUsageFigures } from '../../../persistence/replies/usage/usage-figures.ts'
import { badRequest } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'

const DAY_MS = 86_400_000
/** How far back `from` lies when it is not given. */
const USUAL_MS = 30 * DAY_MS
/** What the database reads as it is written here. */
const EARLIEST = new Date('0001-01-01T00:00:00Z')
const LATEST = new Date('9999-12-31T23:59:59.999Z')

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
      const rows = await readUsage(sql, { from, to, groupBy: query.groupBy })
      return { from: from.toISOString(), to: to.toISOString(), rows }
    },
    getUsageFigures: async ({ query }) => {
      const { from, to } = readPeriod(query)
      await usageStored()
      const rows = await readUsageFigures(sql, { from, to, groupBy: query.groupBy })
      return { from: from.toISOString(), to: to.toISOString(), rows }
    },
  }) satisfies Handlers<'usage'>

/** Throws 400. */
function readPeriod(query: { from?: string | undefined; to?: string | undefined }): { from: Date; to: Date } {
  // The end is not included; what has ended in this millisecond is.
  const to = query.to === undefined ? new Date(Date.now() + 1) : readMoment('to', query.to)
  const usual = Math.max(to.getTime() - USUAL_MS, EARLIEST.getTime())
  const from = query.from === undefined ? new Date(usual) : readMoment('from', query.from)
  if (from > to) badRequest('from: must not be later than to')
  return { from, to }
}

const momentPattern = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/

/** `2026-01-31`, `2026-01-31T10:00:00Z`, or with an offset; without one it is UTC. Throws 400. */
function readMoment(field: string, text: string): Date {
  const [, day = '', time, , , zone] = momentPattern.exec(text) ?? []
  // A query string turns the + of an offset into a blank unless it was escaped: that is refused, not guessed.
  const moment = new Date(time === undefined || zone !== undefined ? text : `${text}Z`)
  // The parser alone takes the 31st of February for the 3rd of March.
  const midnight = new Date(`${day}T00:00:00Z`)
  const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
  // An offset moves a moment out of the years that the pattern takes. NaN is in no range.
  if (day === '' || !exists || !(moment >= EARLIEST && moment <= LATEST)) {
    badRequest(`${field}: must be an ISO 8601 date or time, such as 2026-01-31 or 2026-01-31T10:00:00Z`)
  }
  return moment
}
