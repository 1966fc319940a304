/** The bounds of what an MCP server may ask (contract section 27). */
import type { Client } from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import { callAsking } from '../../../src/tools/mcp/mcp-elicitation.ts'
import { verifies } from '../../verifies.ts'

const object = { type: 'object', properties: {} }

/** Calls a tool whose server answers so. Returns its questions, or why it cannot ask. */
async function asked(answer: object): Promise<number | string> {
  const callTool = async () => ({ resultType: 'input_required', ...answer })
  const client = { getProtocolEra: () => 'modern', callTool } as unknown as Client
  const signal = AbortSignal.timeout(60_000)
  const called = callAsking(client, { name: 't' }, { mayAsk: true, again: undefined }, { signal })
  return await called.then(
    ({ asks }) => asks?.questions.length ?? 'no question',
    ({ message }: Error) => message,
  )
}

const one = (params: object) => ({ inputRequests: { q: { method: 'elicitation/create', params } } })
const form = (message: string, requestedSchema: unknown = object) => one({ mode: 'form', message, requestedSchema })
const page = (url: unknown) => one({ mode: 'url', message: 'Pay.', url, elicitationId: 'e' })
const many = (n: number) => ({
  inputRequests: Object.fromEntries(
    Array.from({ length: n }, (_, at) => [
      `q${at}`,
      { method: 'elicitation/create', params: { mode: 'form', message: '?', requestedSchema: object } },
    ]),
  ),
})
/** A schema of this many bytes as JSON. */
function schemaOf(bytes: number) {
  const around = JSON.stringify({ ...object, title: '' }).length
  return { ...object, title: 'x'.repeat(bytes - around) }
}

verifies('contract-27.cannot-ask', 'up to its bounds all is asked', async () => {
  const taken = [
    form('x'.repeat(10_000)),
    form('?', schemaOf(64 * 1024)),
    { ...form('?'), requestState: 'x'.repeat(256 * 1024) },
    ...['https://example.com/a', 'http://localhost:1/', 'http://127.0.0.1/', 'http://[::1]:8/'].map(page),
  ]
  for (const answer of taken) expect(await asked(answer)).toBe(1)
  expect(await asked(many(10))).toBe(10)
})

verifies('contract-27.cannot-ask', 'beyond them each is told to the model, and nothing waits', async () => {
  const refused: [object, string][] = [
    [many(11), 'asks more than 10 questions at once'],
    [form('x'.repeat(10_001)), 'sends no readable message'],
    [form('?', schemaOf(64 * 1024 + 1)), 'sends no form that can be shown'],
    ...[{ type: 'array' }, {}, undefined, 'object', [object]].map((schema): [object, string] => [
      one({ message: '?', requestedSchema: schema }),
      'sends no form that can be shown',
    ]),
    [{ ...form('?'), requestState: 'x'.repeat(256 * 1024 + 1) }, 'sends too large a state'],
    ...[
      'http://example.com/',
      'ftp://example.com/',
      'javascript:alert(1)',
      '/pay',
      '//example.com/pay',
      'https://ann@example.com/',
      'https://:secret@example.com/',
      'http://localhost.example.com/',
      'http://127.0.0.1.example.com/',
      5,
      undefined,
    ].map((url): [object, string] => [page(url), 'sends its user to an address that is not https']),
    [one({ mode: 'voice', message: '?' }), 'asks in a way that is not known'],
    ...['sampling/createMessage', 'roots/list'].map((method): [object, string] => [
      { inputRequests: { q: { method, params: {} } } },
      'asks for something else than an answer of the user',
    ]),
  ]
  for (const [answer, why] of refused)
    expect(await asked(answer)).toBe(`The MCP server cannot ask its user: it ${why}.`)
})
