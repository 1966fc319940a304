/** Server-sent events, as the HTML standard defines them, from a body in chunks of any size. */

export interface ServerEvent {
  /** The event's id; absent if it has none. */
  id?: string
  /** The event's name; `message` when absent. */
  event?: string
  data: string
}

/** Parses text chunk by chunk, and calls `onEvent` as soon as the blank line after an event has come. */
export function eventParser(onEvent: (event: ServerEvent) => void): (chunk: string) => void {
  let unfinished = ''
  let endedWithReturn = false
  let event: ServerEvent = { data: '' }
  let hasData = false

  function parseLine(line: string): void {
    if (line === '') {
      if (hasData) onEvent(event)
      event = { data: '' }
      hasData = false
      return
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') {
      event.data = hasData ? `${event.data}\n${value}` : value
      hasData = true
    } else if (field === 'event' && value !== '') event.event = value
    else if (field === 'id' && !value.includes('\0')) event.id = value
  }

  return (chunk) => {
    if (chunk === '') return
    // A line may end with "\r\n", and a chunk between the two.
    const text = endedWithReturn && chunk[0] === '\n' ? chunk.slice(1) : chunk
    endedWithReturn = chunk.endsWith('\r')
    let from = 0
    for (const end of text.matchAll(/\r\n?|\n/g)) {
      parseLine(unfinished + text.slice(from, end.index))
      unfinished = ''
      from = end.index + end[0].length
    }
    unfinished += text.slice(from)
  }
}

/**
 * Yields the events of one response, and ends with it. Rejects when the connection breaks. `onBytes` is called for
 * everything that is received, comments included. Leaving the loop closes the connection.
 */
export async function* serverEvents(
  { body }: Response,
  onBytes: () => void = () => undefined,
): AsyncGenerator<ServerEvent, void> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const events: ServerEvent[] = []
  const parse = eventParser((event) => events.push(event))
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      parse(decoder.decode(value, { stream: true }))
      yield* events.splice(0)
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
