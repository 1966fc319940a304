/**
 * The words in which a caller learns of an error: its status, message and headers. Each scope puts them into its own
 * format.
 */
import type { FastifyBaseLogger } from 'fastify'
import { isDatabaseGone } from '../../persistence/postgres/database.ts'
import { databaseWords } from './database-errors/database-words.ts'
import { HttpError } from './http-error.ts'

export interface ErrorAnswer {
  status: number
  message: string
  headers: Readonly<Record<string, string>>
}

/** Fastify's own refusals, in words that say what to do. Others of its kind keep their words. */
const refusals: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "The body's content-type must be application/json.",
  FST_ERR_NOT_FOUND: 'There is no such path.',
}

/** Returns the answer to an error. Statement texts, stacks and causes are for the log alone. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof HttpError) return { status: error.status, message: error.message, headers: error.headers }
  const status = refusalStatus(error)
  if (status !== null && error instanceof Error) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
    const message = refusals[code] ?? (code.startsWith('FST_ERR_') ? error.message : 'The request cannot be read.')
    return { status, message, headers: {} }
  }
  if (isDatabaseGone(error)) {
    return { status: 503, message: databaseWords(error), headers: { 'retry-after': '1' } }
  }
  return { status: 500, message: 'Internal server error.', headers: {} }
}

/**
 * Logs a failure. `error` is for faults of ours alone: a database that is away, or a server that we asked, is not one.
 */
export function logFailure(log: Pick<FastifyBaseLogger, 'error' | 'warn'>, error: unknown, message: string): void {
  const isOurs = !(error instanceof HttpError) && !isDatabaseGone(error)
  log[isOurs ? 'error' : 'warn']({ err: error }, message)
}

function refusalStatus(error: unknown): number | null {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null
  return typeof status === 'number' && status >= 400 && status < 500 ? status : null
}
