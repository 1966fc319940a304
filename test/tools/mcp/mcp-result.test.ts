/** What a model reads of an MCP tool's result: everything exactly once (contract section 6). */
import { describe, expect, test } from 'vitest'
import { mcpFetch } from '../../../src/tools/mcp/mcp-fetch.ts'
import { withMarks } from '../../../src/tools/mcp/mcp-numbers.ts'
import { resultText } from '../../../src/tools/mcp/mcp-result.ts'
import { createOutbound, type OutboundInit } from '../../../src/tools/outbound/outbound.ts'
import { verifies } from '../../verifies.ts'
import { never, serve, unknown } from './mcp-by-hand.ts'

const text = (text: string) => ({ type: 'text' as const, text })
const read = (texts: string[], structuredContent: object) =>
  resultText({ content: texts.map(text), structuredContent: { ...structuredContent } })

describe('structured content that repeats the texts is not sent again', () => {
  const long = 'line of a file\n'.repeat(1000)
  const graph = { entities: [{ name: 'a', observations: ['b'] }], relations: [] }

  test.each([
    ['its JSON', [JSON.stringify(graph)], graph],
    [
      'its JSON, indented, keys in another order',
      [JSON.stringify({ relations: [], entities: graph.entities }, null, 2)],
      graph,
    ],
    ['the text as its only field, as the filesystem server sends', [long], { content: long }],
    [
      'the JSON of its only field, as the memory server sends',
      [JSON.stringify(graph.entities, null, 2)],
      { entities: graph.entities },
    ],
    ['a number, as FastMCP sends', ['8'], { result: 8 }],
    ['a list with a text for each item', ['one', '{"two":2}'], { result: ['one', { two: 2 }] }],
    ['a text with blanks around it', ['  yes\n'], { answer: 'yes' }],
  ])('%s', (_, texts, structured) => {
    expect(read(texts, structured)).toBe(texts.join('\n'))
  })

  test('only what the texts do not contain is sent', () => {
    expect(read([long], { content: long, truncated: true })).toBe(`${long}\n{"truncated":true}`)
    expect(read(['See:'], { answer: 42 })).toBe('See:\n{"answer":42}')
    expect(read(['one'], { result: ['one', 'two'] })).toBe('one\n{"result":["one","two"]}')
    expect(read(['[1,2]'], { a: [1, 3] })).toBe('[1,2]\n{"a":[1,3]}')
  })

  test('a list beside other texts is sent', () => {
    const parts = [text('Two were found.')]
    expect(resultText({ content: parts, structuredContent: JSON.parse('[1,2]') })).toBe('Two were found.\n[1,2]')
  })

  test('unless there are too many pairs of a text and a field to compare', () => {
    const texts = Array.from({ length: 21 }, (_, n) => `text ${n}`)
    const fields = (count: number) => Object.fromEntries(texts.slice(0, count).map((one, n) => [`f${n}`, one]))
    expect(read(texts, fields(18))).toBe(texts.join('\n')) // 21 * 19 pairs
    expect(read(texts, fields(19))).toBe(`${texts.join('\n')}\n${JSON.stringify(fields(19))}`)
  })

  test('without texts it is sent as JSON', () => {
    expect(read([], graph)).toBe(JSON.stringify(graph))
    expect(read([''], graph)).toBe(JSON.stringify(graph))
  })
})

test('15,000 characters sent are 15,000 read, over the wire', async () => {
  const content = 'x'.repeat(15_000)
  const result = { content: [text(content)], structuredContent: { content } }
  await using hand = await serve((method) => (method === 'tools/call' ? { result } : unknown))
  expect((await hand.mcp.call(hand.server, 'read_text_file', {}, never)).content).toHaveLength(15_000)
})

verifies('contract-35.digits', 'numbers keep their digits, in arguments and in structured content', async () => {
  const id = JSON.rawJSON('1917043659912705297')
  const answers: [object, string][] = [
    [
      { content: [], structuredContent: { id, list: [id, 1], price: JSON.rawJSON('1.50') } },
      '{"id":1917043659912705297,"list":[1917043659912705297,1],"price":1.50}',
    ],
    [{ content: [], structuredContent: id }, '{"result":1917043659912705297}'],
    [{ content: [text('{"id":1917043659912705297}')], structuredContent: { id } }, '{"id":1917043659912705297}'],
    [
      { content: [text('{"id":1917043659912705300}')], structuredContent: { id } },
      '{"id":1917043659912705300}\n{"id":1917043659912705297}',
    ],
    [
      {
        content: [
          { type: 'text', text: id },
          { type: 'text', text: { id } },
        ],
      },
      '1917043659912705297\n{"id":1917043659912705297}',
    ],
  ]
  for (const transport of ['streamable_http', 'sse'] as const) {
    const asked: string[] = []
    let result: object = {}
    await using hand = await serve(
      (method, params) => {
        if (method !== 'tools/call') return unknown
        asked.push(JSON.stringify(params.arguments))
        return { result }
      },
      { transport },
    )
    for (const [answer, words] of answers) {
      result = answer
      const { content } = await hand.mcp.call(hand.server, 'look', { id, list: [{ id }] }, never)
      expect(content).toBe(words)
    }
    expect(new Set(asked)).toEqual(new Set(['{"id":1917043659912705297,"list":[{"id":1917043659912705297}]}']))
  }
})

verifies('contract-35.digits', 'and so does an argument that the SDK copies into a header', async () => {
  const sent: unknown[] = []
  const fetch = async (_: unknown, { headers, body }: OutboundInit) => {
    sent.push(headers, body)
    return new Response()
  }
  const watch = { failure: null, onEventsOpen() {}, onEventsEnd() {} }
  const { id, n } = withMarks({ id: JSON.rawJSON('1917043659912705297'), n: 1 })
  const ask = mcpFetch(Object.assign(createOutbound({ policy: 'standard', allow: [] }), { fetch }), watch, false)
  await ask('http://a/', { method: 'POST', headers: { 'mcp-param-id': `${id}` }, body: JSON.stringify({ id, n }) })
  expect(sent).toEqual([{ 'mcp-param-id': '1917043659912705297' }, '{"id":1917043659912705297,"n":1}'])
})
