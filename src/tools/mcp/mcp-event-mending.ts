/**
 * Mending of messages on an MCP server's event stream, before the SDK parses them, like `mendMessage` for responses in
 * JSON. An event that needs no mending passes unchanged.
 */
import { mayChange } from '../../untrusted/exact-json.ts'
import { type AskedId, mendMessage } from './mcp-answers.ts'
import { parseMessage } from './mcp-numbers.ts'

/** Matches every event that `mendMessage` would change. */
const MAY_NEED_MENDING = /"_meta"\s*:\s*null\b|"error"\s*:/
/** Matches every event whose numbers `parseMessage` may mark. */
const HOLDS_RESULT = /"(?:content|structuredContent|inputRequests)"\s*:/
/** A blank line: the end of an event. */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n)){2}/
/** The most characters before a piece in which a blank line that it completes may begin. */
const OVERLAP = 3

/** Mends the events of a stream. Each event is held until it is whole; the caller limits its length. */
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
  if (!MAY_NEED_MENDING.test(event) && !(HOLDS_RESULT.test(event) && mayChange(event))) return event
  const lines = event.split(/\r\n|\n|\r/)
  const data = lines.flatMap((line) => /^data:? ?(.*)$/.exec(line)?.[1] ?? []).join('\n')
  try {
    const mended = JSON.stringify(mendMessage(parseMessage(data), asked))
    const others = lines.filter((line) => line !== '' && !line.startsWith('data'))
    return `${[...others, `data: ${mended}`].join('\n')}\n\n`
  } catch {
    return event // the SDK reports the error
  }
}
