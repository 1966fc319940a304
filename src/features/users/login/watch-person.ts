/** People who follow a stream of management: it ends with their login, or when their role no longer suffices. */
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../../../http/server/http-error.ts'
import type { Watched } from '../../../http/streaming/break-off.ts'
import type { LoginSessions, Person } from './login-session.ts'

/** A login that the issuer no longer confirms ends the stream this much later at most. */
const EVERY_MS = 4000

/** Watches a login until `stop`. `mayGoOn` throws when the person may no longer read. */
export function watchPerson(
  sessions: Pick<LoginSessions, 'personNow'>,
  request: FastifyRequest,
  mayGoOn: (person: Person) => void,
  everyMs = EVERY_MS,
): Watched {
  const over = new AbortController()
  let looking = false
  const look = async () => {
    const person = await sessions.personNow(request)
    if (person === null) throw new HttpError(401, 'Log in first.')
    mayGoOn(person)
  }
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    look()
      .catch((error: unknown) => {
        // A database that is away says nothing of the person.
        if (error instanceof HttpError) over.abort(error)
      })
      .finally(() => {
        looking = false
      })
  }, everyMs)
  return { signal: over.signal, stop: () => clearInterval(timer) }
}
