/**
 * Says what is wrong with the database, in words: "cannot be reached" is one of several things (contract section 25).
 */
import { codeOf } from '../../../persistence/postgres/database.ts'

const words: Readonly<Record<string, string>> = {
  '53100': 'The disk of the database (DATABASE_URL) is full: it stores nothing until there is space.',
  '53200': 'The database (DATABASE_URL) has no memory left for this.',
  '53300': 'The database (DATABASE_URL) takes no more connections: raise its max_connections.',
  '25006': 'The database (DATABASE_URL) takes no writes: it is a standby, or read-only.',
  '40001': 'The database undid this for the sake of another request: send it again.',
  '40P01': 'The database undid this for the sake of another request: send it again.',
  '55P03': 'The database was busy with what this needs: send it again.',
  '57014': 'The database ended this because it took too long.',
  CONNECT_TIMEOUT: 'The database is busy: no connection to it was free in time.',
}

export const databaseWords = (error: unknown): string =>
  words[codeOf(error) ?? ''] ?? 'The database (DATABASE_URL) cannot be reached.'
