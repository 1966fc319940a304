/** Requests of the load client: undici's dispatcher, without the objects of fetch. */
import { Agent, type Dispatcher } from 'undici'

const TIMEOUT_MS = 120_000

const agent = new Agent({
  connections: null,
  pipelining: 1,
  headersTimeout: TIMEOUT_MS,
  bodyTimeout: TIMEOUT_MS,
  keepAliveTimeout: 4000,
})

export type Request = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** GET by default. */
  readonly body?: string
}

export type Listener = {
  head?(status: number): void
  data?(chunk: Buffer): void
  /** Ends the response; called last, with an error if it failed. */
  end(error?: Error): void
}

/** Returns a function that drops the connection. */
export function send({ url, headers, body }: Request, listener: Listener): () => void {
  const { origin, pathname, search } = new URL(url)
  let controller: Dispatcher.DispatchController | undefined
  const options: Dispatcher.DispatchOptions = {
    origin,
    path: `${pathname}${search}`,
    method: body === undefined ? 'GET' : 'POST',
    body: body ?? null,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  }
  agent.dispatch(options, {
    onRequestStart(started) {
      controller = started
    },
    onResponseStart(_, status) {
      listener.head?.(status)
    },
    onResponseData(_, chunk) {
      listener.data?.(chunk)
    },
    onResponseEnd() {
      listener.end()
    },
    onResponseError(_, error) {
      listener.end(error)
    },
  })
  return () => controller?.abort(new Error('The load client closed the connection.'))
}
