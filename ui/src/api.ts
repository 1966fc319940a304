/** The one way to the server: the generated client, with what every call needs done once. */
import { createClient } from '../../openapi/client.ts'
import { loginAgain } from './login/login-state.ts'
import { connectionLost } from './shell/connection.ts'

/** The server answered and refused. `message` is its own; it begins with the field's path where one is to blame. */
export class ApiError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Nobody answered. The shell says so, asks again by itself, and repeats the queries that failed. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('Greenroom cannot be reached. What you typed is still here: try again in a moment.', { cause })
  }
}

/**
 * Asks, and when the login has ended meanwhile waits until somebody has logged in over the page, then asks again:
 * a request refused with 401 has changed nothing. Rejects with `Unreachable` when nobody answers.
 */
export async function send(request: Request): Promise<Response> {
  for (;;) {
    const response = await fetch(request.clone()).catch((error: unknown) => {
      if (request.signal.aborted) throw error
      connectionLost()
      throw new Unreachable(error)
    })
    if (response.status !== 401 || new URL(request.url).pathname.startsWith('/api/auth/')) return response
    await loginAgain(request.signal)
  }
}

export const api = createClient('', { fetch: send })

interface Answer<Data> {
  data?: Data
  error?: unknown
  response: Response
}

/** The data of a call: `answer(api.GET('/api/v1/prompts', {…}))`. Rejects with `ApiError` or `Unreachable`. */
export async function answer<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await call
  if (!response.ok) throw new ApiError(response.status, messageOf(error, response.status))
  // The contract's type: undefined only where it says 204.
  return data as Data
}

function messageOf(error: unknown, status: number): string {
  const { message } = Object(error)
  return typeof message === 'string' ? message : `The server answered with status ${status}.`
}

/** What to tell a person about anything thrown. */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
