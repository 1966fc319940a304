/**
 * Messages on an MCP server's event stream, made what the SDK reads before it parses them: what `mendMessage` does to the
 * answers in JSON. An event that needs no mending passes as it came.
 */
import { type AskedId, mendMessage } from './mcp-answers.ts'

/** What `mendMessage` changes holds one of these; the other events are never parsed here. */
const MAY_NEED_MENDING = /"_meta"\s*:\s*null\b|"error"\s*:/
/** A blank line: the end of an event. */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n)){2}/
/** A blank line that a piece completes begins at most so many characters before the piece. */
const OVERLAP = 3

/** Each event is held until it is whole; how long one may be is the matter of whoever bounds the stream. */
export function mendEvents(body: ReadableStream<Uint8Array>, asked?: AskedId): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const encoder = new TextEncoder()
  // Pieces are joined once an event is whole: one long text that grows would be copied with every piece.
  let pieces: string[] = []
  let tail = ''
  function* wholeEvents(piece: string): Generator<string> {
    let rest = piece
    for (;;) {
      const end = BLANK_LINE.exec(tail + rest)
      if (end === null) break
      const cut = Math.max(0, end.index + end[0].length - tail.length)
      yield mendEvent(pieces.join('') + rest.slice(0, cut), asked)
      pieces = []
      tail = ''
      rest = rest.slice(cut)
    }
    if (rest !== '') pieces.push(rest)
    tail = (tail + rest).slice(-OVERLAP)
  }
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        for (const event of wholeEvents(decoder.decode(bytes, { stream: true }))) {
          controller.enqueue(encoder.encode(event))
        }
      },
      flush(controller) {
        controller.enqueue(encoder.encode(pieces.join('') + decoder.decode()))
      },
    }),
  )
}

function mendEvent(event: string, asked: AskedId | undefined): string {
  if (!MAY_NEED_MENDING.test(event)) return event
  const lines = event.split(/\r\n|\n|\r/)
  const data = lines.flatMap((line) => /^data:? ?(.*)$/.exec(line)?.[1] ?? []).join('\n')
  try {
    const mended = JSON.stringify(mendMessage(JSON.parse(data), asked))
    const others = lines.filter((line) => line !== '' && !line.startsWith('data'))
    return `${[...others, `data: ${mended}`].join('\n')}\n\n`
  } catch {
    return event // the SDK says what is wrong with it
  }
}
