/**
 * What users of such systems report, on the product as it is started, in a network whose names a proxy alone knows
 * (contract section 35).
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect } from 'vitest'
import { asks, says } from '../../http/tool-scene.ts'
import { startHttpProxy } from '../../support/network/http-proxy.ts'
import { startUpstream } from '../../support/network/upstream.ts'
import { addAgent, deployUrl, messagesOf, newSession, postJson, startProduct } from '../../support/programs/product.ts'
import { verifies } from '../../verifies.ts'

const proxy = await startHttpProxy({ login: 'ann:s3cret' })
const up = await startUpstream()
const product = await startProduct({
  env: {
    HTTP_PROXY: `http://ann:s3cret@${proxy.host}`,
    HTTPS_PROXY: `http://ann:s3cret@${proxy.host}`,
    NO_PROXY: 'direct.example',
    OUTBOUND_POLICY: 'standard',
  },
})
const port = (url: string) => new URL(url).port
const agent = await addAgent(product, `http://model.inner.example:${port(up.url)}/v1`)
const own = `${product.url}/api/v1/agents/${agent}`

let answer = (_: IncomingMessage, response: ServerResponse): unknown => response.end('found')
const calls: string[] = []
const shop = createServer((request, response) => {
  calls.push(`${request.url}`)
  answer(request, response)
})
await once(shop.listen(0, '127.0.0.1'), 'listening')
afterAll(async () => {
  await product[Symbol.asyncDispose]()
  shop.close()
  await up.close()
  await proxy[Symbol.asyncDispose]()
})

const put = (url: string, body: object) =>
  fetch(url, { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

/** Makes a tool, which the agent is given. Returns the record. */
async function chooseTool(fields: object): Promise<{ id: string; warning?: string }> {
  const url = `http://shop.inner.example:${(shop.address() as AddressInfo).port}/buy`
  const body = { name: 'buy', description: 'Buys.', method: 'GET', url, ...fields }
  const made = await postJson(`${product.url}/api/v1/http-tools`, body)
  const tool = Object(await made.json())
  expect(made.status).toBe(201)
  expect((await put(`${own}/tools`, { httpToolIds: [tool.id], mcpServers: [], builtInToolIds: [] })).status).toBe(200)
  return tool
}

async function ask(content: string, more: object = {}) {
  const body = { messages: [{ role: 'user', content }], ...more }
  return await postJson(`${deployUrl(product.url, agent)}/chat/completions`, body)
}

const told = () => up.calls.at(-1)?.body.messages.at(-1).content

verifies(
  'contract-35.proxy',
  'a model whose name the proxy alone knows answers; no log shows the password',
  async () => {
    up.next(says('Hello.'))
    expect(Object(await (await ask('Hi')).json()).choices[0].message.content).toBe('Hello.')
    expect(proxy.seen.at(-1)).toBe(`POST http://model.inner.example:${port(up.url)}/v1/chat/completions`)
    expect([...product.stdout, ...product.stderr].join()).not.toContain('s3cret')
  },
)

verifies(
  'contract-35.proxy',
  'https addresses go through the proxy too, and an error names who was asked',
  async () => {
    for (const [url, words] of [
      ['https://shop.inner.example/buy', proxy.host],
      ['http://direct.example/buy', 'host name not found'],
    ] as const) {
      await chooseTool({ name: `at_${new URL(url).protocol.slice(0, -1)}`, url })
      up.next((call) => asks('', { name: call.body.tools[0].function.name, arguments: '{}', id: 'c1' })(call))
      up.next(says('Done.'))
      await ask('Buy!')
      expect(told()).toContain(words)
    }
    expect(proxy.seen).toContain('CONNECT shop.inner.example:443')
    expect(proxy.seen.join()).not.toContain('direct.example')
  },
)

verifies('contract-35.digits', 'the digits of the model reach the tool, in a schema of another dialect', async () => {
  const text = { type: 'string', pattern: '^https\\:\\/\\/' }
  const possessive = { type: 'string', pattern: 'a++' }
  const properties = { id: { type: 'integer' }, text, possessive }
  const { warning } = await chooseTool({ inputSchema: { type: 'object', properties } })
  expect(warning).toContain('a++')
  const given = '{"id":1917043659912705297,"text":"https://a","possessive":"a"}'
  up.next(asks('', { name: 'buy', arguments: given, id: 'c1' }))
  up.next(says('Bought.'))
  await ask('Buy!')
  expect(calls.at(-1)).toContain('id=1917043659912705297')
})

verifies('contract-35.challenge', 'words that stand in WWW-Authenticate alone are told', async () => {
  await chooseTool({ name: 'buy2' })
  answer = (_, response) =>
    response.writeHead(401, { 'www-authenticate': 'Bearer error_description="expired at noon"' }).end()
  up.next(asks('', { name: 'buy2', arguments: '{}', id: 'c1' }))
  up.next(says('Done.'))
  await ask('Buy!')
  expect(told()).toContain('expired at noon')
})

verifies('contract-35.last-turn', 'a structured answer after a sentence can be parsed', async () => {
  up.next(asks('I will look. ', { name: 'buy2', arguments: '{}', id: 'c1' }))
  up.next(says('{"answer":"final"}'))
  const answered = await ask('Buy!', { response_format: { type: 'json_object' } })
  const { choices } = Object(await answered.json())
  expect(JSON.parse(choices[0].message.content)).toEqual({ answer: 'final' })
})

verifies(['contract-35.line-ends', 'contract-35.titles'], 'lines that some clients cut, and titles', async () => {
  up.next(says('one\u2028two\u0085three'))
  const session = await newSession(product.url, agent)
  const url = `${product.url}${session}`
  const messages = [{ role: 'user', content: 'Title\u0001 it' }]
  const text = await (await postJson(`${url}/chat/completions`, { messages, stream: true })).text()
  expect(text).not.toMatch(/[\u2028\u0085]/)
  expect((await messagesOf(product.url, session)).at(-1)?.content).toBe('one\u2028two\u0085three')
  expect(Object(await (await fetch(url)).json()).title).toBe('Title it')
})
