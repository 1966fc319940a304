/** The only way to the server: the product's own client, with what all calls of the pages need. */
import { ConnectionError, createClient } from '../../packages/client/src/index.ts'
import { parseNoted } from '../../src/untrusted/exact-json.ts'
import { noteTag } from './blocks/editing/record-tags.ts'
import { loginAgain } from './login/login-state.ts'
import { connectionLost, reachableWithin } from './shell/connection.ts'
import { noteServerTime } from './shell/server-clock.ts'

/** The server refused. `message` is its own; it begins with the field's path where one is at fault. */
export { ApiError, type ContentPart, filePart, ReplyError, type ReplyEvent } from '../../packages/client/src/index.ts'

/** The server did not answer. The shell says so, retries automatically, and repeats the queries that failed. */
export class Unreachable extends ConnectionError {
  constructor(cause: unknown) {
    super('Greenroom cannot be reached. What you typed is still here: try again in a moment.', { cause })
  }
}

/**
 * Sends a request. When the login has expired it waits for a login in the dialog over the page, and sends it again:
 * a request refused with 401 has changed nothing. Rejects with `Unreachable` when there is no answer.
 */
async function send(path: string, init: RequestInit): Promise<Response> {
  for (;;) {
    const response = await fetch(path, init).catch((error: unknown) => {
      if (init.signal?.aborted) throw error
      connectionLost()
      throw new Unreachable(error)
    })
    noteServerTime(response)
    noteTag(path, response)
    if (response.status !== 401 || path.startsWith('/api/auth/')) return response
    await loginAgain(init.signal)
  }
}

/** Calls resolve to the response's data, and reject with `ApiError` or `Unreachable`. Streams are resumed after breaks. */
export const api = createClient({
  baseUrl: '',
  fetch: send,
  // Ordinary values, whose digits `writeExact` writes: schemas go back as they came.
  parse: parseNoted,
  reconnect: {
    longestWaitMs: 5_000,
    // An open page keeps trying; and a login may take a while.
    giveUpAfterMs: Number.POSITIVE_INFINITY,
    answerWithinMs: Number.POSITIVE_INFINITY,
    wait: reachableWithin,
  },
})

/** Returns the message to show for anything thrown. */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
