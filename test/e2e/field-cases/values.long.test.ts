/** Values that others convert, glue or check by rules of their own, from reports of their users (contract section 35). */
import OpenAI from 'openai'
import { expect } from 'vitest'
import { says } from '../../http/tool-scene.ts'
import { newSession, postJson } from '../../support/programs/product.ts'
import { verifies } from '../../verifies.ts'
import { callsFor, openField, startServer } from './field.ts'

const field = await openField()
const { up, product, agent, deploy, make, chooses, ask, told } = field
const bodies: string[] = []
const shop = await startServer((_, response, body) => {
  bodies.push(body)
  response.end('{"order":1917043659912705297}')
})
let number = 0

/** Gives the agent one tool. Returns its name and what saving it answered. */
async function givesTool(fields: object) {
  const name = `tool${++number}`
  const common = { name, description: 'Acts.', method: 'POST', url: `${shop.url}/act` }
  const made = await make('/api/v1/http-tools', { ...common, ...fields })
  await chooses({ httpToolIds: [made.id] })
  return { name, made }
}

async function calls(name: string, given: string): Promise<void> {
  up.next(callsFor({ index: 0, id: 'c1', name, arguments: given }))
  up.next(says('done'))
  expect((await ask('x')).status).toBe(200)
}

const large = ['1917043659912705297', '12345678901234567890123'] as const

verifies(
  'contract-35.digits',
  'numbers reach body, query and template, and come back, as they were written',
  async () => {
    const properties = { id: { type: 'integer' } }
    const inputSchema = { type: 'object', properties }
    for (const digits of large) {
      await calls((await givesTool({ inputSchema })).name, `{"id":${digits}}`)
      expect(bodies.at(-1)).toBe(`{"id":${digits}}`)
      expect(told()).toContain('1917043659912705297')
      await calls((await givesTool({ inputSchema, method: 'GET' })).name, `{"id":${digits}}`)
      expect(shop.paths.at(-1)).toBe(`/act?id=${digits}`)
      await calls((await givesTool({ inputSchema, body: '{"order":{"id":{{id}}}}' })).name, `{"id":${digits}}`)
      expect(bodies.at(-1)).toBe(`{"order":{"id":${digits}}}`)
    }
  },
)

verifies('contract-35.patterns', 'a keyword that cannot be applied costs itself alone', async () => {
  for (const [property, value, isWarned] of [
    [{ type: 'string', pattern: '^https\\:\\/\\/' }, 'https://a', false],
    [{ type: 'string', pattern: '(?i)^a' }, 'A', true],
    [{ type: 'string', pattern: 'a++' }, 'aa', true],
    [{ type: 'string', required: true }, 'a', true],
  ] as const) {
    const { name, made } = await givesTool({ inputSchema: { type: 'object', properties: { value: property } } })
    expect([property, typeof made.warning]).toEqual([property, isWarned ? 'string' : 'undefined'])
    await calls(name, JSON.stringify({ value }))
    expect(bodies.at(-1)).toBe(JSON.stringify({ value }))
    const [{ function: offered }] = up.calls.at(-1)?.body.tools ?? []
    expect(offered.parameters.properties.value).toEqual(isWarned ? { type: 'string' } : property)
  }
})

verifies('contract-32.parse', 'the official client parses an answer after a sentence and a call', async () => {
  const { name } = await givesTool({ inputSchema: { type: 'object', properties: {} } })
  const client = new OpenAI({ baseURL: deploy, apiKey: 'any', maxRetries: 0 })
  const schema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] }
  const format = { type: 'json_schema' as const, name: 'answer', strict: false, schema }
  up.next(async (call) => {
    await call.text('I will check. ')
    await callsFor({ index: 0, id: 'c1', name, arguments: '{}' })(call)
  })
  up.next(says('{"answer":"final"}'))
  const parsed = await client.responses.parse({ input: 'Go', text: { format } })
  expect(parsed.output_parsed).toEqual({ answer: 'final' })
})

verifies(
  'contract-35.interim',
  'a model and a tool that send 100 Continue before their answers are heard',
  async () => {
    const interim = await startServer((_, response) => {
      response.writeContinue()
      response.end('bought')
    })
    const { name } = await givesTool({ url: `${interim.url}/buy` })
    for (const answer of [callsFor({ index: 0, id: 'c1', name, arguments: '{}' }), says('Hello.')]) {
      up.next((call) => {
        call.interim()
        return answer(call)
      })
    }
    const { json } = await ask('x')
    expect(json.choices?.[0].message.content).toBe('Hello.')
    expect([told(), interim.paths]).toEqual(['Status 200 OK\n\nbought', ['/buy']])
  },
)

verifies(
  'contract-35.line-ends',
  'a delta with U+2028 is one line of one event, also when it is read again',
  async () => {
    await chooses({})
    const session = await newSession(product.url, agent)
    const url = `${product.url}${session}/chat/completions`
    up.next(says('one\u2028two\u2029three\u0085four'))
    const messages = [{ role: 'user', content: 'x' }]
    const streamed = await (await postJson(url, { messages, stream: true })).text()
    const again = await (await fetch(`${url}/stream`, { headers: { 'last-event-id': '0' } })).text()
    for (const text of [streamed, again]) {
      // Python's str.splitlines, by which requests and older httpx clients cut lines.
      const lines = text.split(/[\n\r\u0085\u2028\u2029]/).filter((line) => line.startsWith('data: {'))
      const content = lines.map((line) => Object(JSON.parse(line.slice(6))).choices[0]?.delta.content ?? '').join('')
      expect(content).toBe('one\u2028two\u2029three\u0085four')
    }
  },
)
