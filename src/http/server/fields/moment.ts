/** Parses dates and times in queries. */
import { badRequest } from '../http-error.ts'

/** PostgreSQL reads moments from this one to the latest as they are written here. */
export const EARLIEST = new Date('0001-01-01T00:00:00Z')
const LATEST = new Date('9999-12-31T23:59:59.999Z')

const momentPattern = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/

/** Reads `2026-01-31`, `2026-01-31T10:00:00Z`, or with an offset; without one it is UTC. Throws 400. */
export function readMoment(field: string, text: string): Date {
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
