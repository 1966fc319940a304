/** Server-sent events, as the HTML standard says: read from a body, whatever pieces it comes in. */

export interface ServerEvent {
  /** Absent: the event has none. */
  id?: string
  /** Its name; absent: `message`. */
  event?: string
  data: string
}

/** Takes text piece by piece, and hands over each event as soon as the blank line behind it is there. */
export function eventParser(take: (event: ServerEvent) => void): (piece: string) => void {
  let unfinished = ''
  let endedWithReturn = false
  let event: ServerEvent = { data: '' }
  let hasData = false

  function takeLine(line: string): void {
    if (line === '') {
      if (hasData) take(event)
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

  return (piece) => {
    if (piece === '') return
    // A line may end with "\r\n", and a piece between the two.
    const text = endedWithReturn && piece[0] === '\n' ? piece.slice(1) : piece
    endedWithReturn = piece.endsWith('\r')
    let from = 0
    for (const end of text.matchAll(/\r\n?|\n/g)) {
      takeLine(unfinished + text.slice(from, end.index))
      unfinished = ''
      from = end.index + end[0].length
    }
    unfinished += text.slice(from)
  }
}

/**
 * The events of one answer; ends with it. Rejects when the connection breaks. `heard` is called for whatever comes,
 * comments included. Leaving the loop closes the connection.
 */
export async function* serverEvents(
  { body }: Response,
  heard: () => void = () => undefined,
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
      heard()
      parse(decoder.decode(value, { stream: true }))
      yield* events.splice(0)
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
