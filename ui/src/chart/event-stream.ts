/** Server-sent events read by `send`, so that a login that ends in the middle is renewed. */
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { ApiError, send } from '../api.ts'

export interface ServerEvent {
  id?: string | undefined
  event?: string | undefined
  data: string
}

/**
 * The events of one connection; ends when the server ends it (a 204 has none). Rejects with `ApiError` when refused,
 * `Unreachable` when nobody answers, and when the connection breaks. `after`: the id of the last event that is known.
 */
export async function* eventsOf(path: string, after: string | null, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const request = new Request(path, { headers: after === null ? {} : { 'last-event-id': after }, signal })
  const response = await send(request)
  if (!response.ok) throw new ApiError(response.status, `The server answered with status ${response.status}.`)
  const reader = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader()
  if (!reader) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
