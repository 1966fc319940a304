/** Names of violated constraints. */
import postgres from 'postgres'

// 23503: foreign key, 23505: unique.
const kept = new Set(['23503', '23505'])

/** Returns the name of the violated foreign key or unique constraint; null for any other error. */
export function violatedConstraint(error: unknown): string | null {
  if (!(error instanceof postgres.PostgresError) || !kept.has(error.code)) return null
  return error.constraint_name ?? null
}
