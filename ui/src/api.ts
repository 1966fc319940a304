/** The one way to the server: the product's own client, with what every call of a page needs done once. */
import { ConnectionError, createClient } from '../../packages/client/src/index.ts'
import { loginAgain } from './login/login-state.ts'
import { connectionLost, reachableWithin } from './shell/connection.ts'

/** The server answered and refused. `message` is its own; it begins with the field's path where one is to blame. */
export { ApiError, ReplyError, type ReplyEvent } from '../../packages/client/src/index.ts'

/** Nobody answered. The shell says so, asks again by itself, and repeats the queries that failed. */
export class Unreachable extends ConnectionError {
  constructor(cause: unknown) {
    super('Greenroom cannot be reached. What you typed is still here: try again in a moment.', { cause })
  }
}

/**
 * Asks, and when the login has ended meanwhile waits until somebody has logged in over the page, then asks again:
 * a request refused with 401 has changed nothing. Rejects with `Unreachable` when nobody answers.
 */
async function send(path: string, init: RequestInit): Promise<Response> {
  for (;;) {
    const response = await fetch(path, init).catch((error: unknown) => {
      if (init.signal?.aborted) throw error
      connectionLost()
      throw new Unreachable(error)
    })
    if (response.status !== 401 || path.startsWith('/api/auth/')) return response
    await loginAgain(init.signal)
  }
}

/** Calls give the answer's data, and reject with `ApiError` or `Unreachable`. Streams go on over any break. */
export const api = createClient({
  baseUrl: '',
  fetch: send,
  reconnect: {
    longestWaitMs: 5_000,
    // A page that stands open is there to show what comes; and a login may take its time.
    giveUpAfterMs: Number.POSITIVE_INFINITY,
    answerWithinMs: Number.POSITIVE_INFINITY,
    wait: reachableWithin,
  },
})

/** What to tell a person about anything thrown. */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
