/** The reader of server-sent events: the HTML standard's rules, whatever pieces the text comes in. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eventParser, type ServerEvent, serverEvents } from '../../packages/client/src/wire/server-events.ts'

function parsed(pieces: readonly string[]): ServerEvent[] {
  const events: ServerEvent[] = []
  const parse = eventParser((event) => events.push(event))
  for (const piece of pieces) parse(piece)
  return events
}

test.each<[name: string, text: string, events: ServerEvent[]]>([
  ['id, name and data', 'id: 7\nevent: tool_call\ndata: {}\n\n', [{ id: '7', event: 'tool_call', data: '{}' }]],
  ['one space is taken off, no more', 'data:  two\n\ndata:none\n\n', [{ data: ' two' }, { data: 'none' }]],
  ['lines of data are joined', 'data: a\ndata\ndata: b\n\n', [{ data: 'a\n\nb' }]],
  ['comments and unknown fields say nothing', ': ping\nretry: 5\nfoo: bar\ndata: x\n\n', [{ data: 'x' }]],
  ['no data, no event', 'id: 7\nevent: x\n\ndata: y\n\n', [{ data: 'y' }]],
  ['empty data is data', 'data:\n\n', [{ data: '' }]],
  ['what has no blank line behind it never came', 'data: a\n\ndata: b\n', [{ data: 'a' }]],
  ['an id with U+0000 is none', 'id: a\0b\ndata: x\n\n', [{ data: 'x' }]],
])('%s', (_, text, events) => {
  expect(parsed([text])).toEqual(events)
})

test('line ends of all kinds, cut anywhere, give the same events', () => {
  const line = fc.constantFrom('data: é🙂', 'data', 'id: 12', 'event: state', ': ping', '', 'data: a:b')
  const end = fc.constantFrom('\n', '\r\n', '\r')
  const lines = fc
    .array(line, { maxLength: 12 })
    .chain((texts) => fc.tuple(fc.constant(texts), end, fc.array(fc.nat({ max: 100 }), { maxLength: 8 })))
  fc.assert(
    fc.property(lines, ([texts, lineEnd, cuts]) => {
      const text = texts.map((one) => one + lineEnd).join('')
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length]
      const pieces = places.slice(1).map((place, index) => text.slice(places[index], place))
      expect(parsed(pieces)).toEqual(parsed([texts.map((one) => `${one}\n`).join('')]))
    }),
    { numRuns: 2_000 },
  )
})

test('characters that lie across two pieces of bytes come whole', async () => {
  const bytes = new TextEncoder().encode('data: é🙂\n\n')
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
  const events: ServerEvent[] = []
  for await (const event of serverEvents(new Response(body))) events.push(event)
  expect(events).toEqual([{ data: 'é🙂' }])
})
