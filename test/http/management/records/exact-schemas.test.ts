/** Numbers in schemas keep their digits on their way from an administrator, a caller or a server to the vendor (section 35). */
import { afterAll, expect } from 'vitest'
import { asMcp, startServer } from '../../../e2e/field-cases/field.ts'
import { verifies } from '../../../verifies.ts'
import { openToolScene } from '../../tool-scene.ts'

const scene = await openToolScene({ settings: {} })
afterAll(scene.close)
scene.says(['Fine.'])

const DIGITS = ['1917043659912705297', '12345678901234567890123', '1917043659912705299', '1.0']
const schema = (description = 'first') => `{"type":"object","properties":{
  "id":{"description":"${description}","const":${DIGITS[0]},"enum":[${DIGITS[0]},${DIGITS[1]}],"minimum":${DIGITS[1]}},
  "deep":{"type":"array","items":{"default":{"at":[${DIGITS[2]}]},"multipleOf":${DIGITS[3]}}}}}`

/** The numbers of the schema that a text lacks. */
const lostIn = (text: string) => DIGITS.filter((digits) => !new RegExp(`[:[,]\\s*${digits}[,}\\]]`).test(text))
const read = async (path: string) => (await scene.call('GET', path)).text
/** The JSON that the vendor was sent last. */
const sent = () => JSON.stringify(scene.up.calls.at(-1)?.body)
const ask = (more = '') =>
  scene.call('POST', `${scene.agent}/deploy/chat/completions`, `{"messages":[{"role":"user","content":"x"}]${more}}`)
const tool = (inputSchema: string) =>
  `{"name":"exact","description":"d","method":"POST","url":"http://tool.example/","inputSchema":${inputSchema}}`

verifies(
  'contract-35.digits',
  'an HTTP tool’s schema: saved, read, changed, audited, and sent to the vendor',
  async () => {
    const made = await scene.call('POST', '/api/v1/http-tools', tool(schema()))
    expect([made.status, lostIn(made.text)]).toEqual([201, []])
    const path = `/api/v1/http-tools/${made.json.id}`
    for (const one of [path, '/api/v1/http-tools', '/api/v1/audit'])
      expect([one, lostIn(await read(one))]).toEqual([one, []])
    await scene.choose({ httpToolIds: [made.json.id] })
    await ask()
    expect(lostIn(sent())).toEqual([])
    // Other fields leave it as it is; a change of its last digit is one.
    expect(lostIn((await scene.call('PUT', path, { description: 'other' })).text)).toEqual([])
    const changed = schema().replace(`"const":${DIGITS[0]}`, '"const":1917043659912705298')
    expect((await scene.call('PUT', path, `{"inputSchema":${changed}}`)).text).toContain('1917043659912705298')
    expect((await scene.call('GET', '/api/v1/audit')).json.entries[0].changes).toHaveProperty('inputSchema')
  },
)

verifies(
  'contract-35.digits',
  'schemas and formats: exported, imported as JSON and as YAML, and compared',
  async () => {
    const format = `{"type":"json_schema","json_schema":{"name":"a","schema":${schema()}}}`
    expect((await scene.call('PUT', scene.agent, `{"responseFormat":${format}}`)).status).toBe(200)
    const exported = await read('/api/v1/export')
    const { httpTools, agents } = JSON.parse(exported)
    expect([httpTools, agents].map((list) => list.length)).toEqual([1, expect.any(Number)])
    expect(exported.split(DIGITS[1] ?? '')).toHaveLength(5)
    const again = await scene.call('POST', '/api/v1/import?dryRun=true', exported)
    expect([again.status, again.json.changes]).toEqual([200, []])
    for (const [type, words] of [
      ['application/json', 'as JSON'],
      ['application/yaml', 'as YAML'],
    ] as const) {
      // JSON is YAML.
      const body = `{"version":1,"httpTools":[${tool(schema(words))}]}`
      const headers = { 'content-type': type }
      const tried = await scene.call('POST', '/api/v1/import?dryRun=true', body, headers)
      expect([type, tried.status, lostIn(tried.text)]).toEqual([type, 200, []])
      expect((await scene.call('POST', '/api/v1/import', body, headers)).json).toMatchObject({
        updated: 1,
        skipped: [],
      })
      const list = await read('/api/v1/http-tools')
      expect([list.includes(words), lostIn(list)]).toEqual([true, []])
    }
  },
)

verifies('contract-35.digits', 'an agent’s response format, a caller’s, and a caller’s tools', async () => {
  await scene.choose({})
  const format = `{"type":"json_schema","json_schema":{"name":"a","schema":${schema()}}}`
  const saved = await scene.call('PUT', scene.agent, `{"responseFormat":${format}}`)
  expect([saved.status, lostIn(saved.text), lostIn(await read(scene.agent))]).toEqual([200, [], []])
  await ask()
  expect(lostIn(sent())).toEqual([])
  expect((await scene.call('PUT', scene.agent, { responseFormat: null })).status).toBe(200)
  await ask(`,"response_format":${format}`)
  expect(lostIn(sent())).toEqual([])
  await ask(`,"tools":[{"type":"function","function":{"name":"mine","parameters":${schema()}}}]`)
  expect(lostIn(sent())).toEqual([])
})

verifies('contract-35.digits', 'the schemas of an MCP server: listed, and sent to the vendor', async () => {
  const answers: Record<string, object> = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } },
  }
  const plain = asMcp((method) => ({ result: answers[method] ?? {} }))
  const http = await startServer((request, response, body) => {
    if (!body.includes('tools/list')) return plain(request, response, body)
    const { id } = JSON.parse(body)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"go","inputSchema":${schema()}}]}}`)
  })
  const mcpServerId = await scene.createMcpServer({ name: 'm', url: http.url })
  expect(lostIn(await read(`/api/v1/mcp-servers/${mcpServerId}/tools`))).toEqual([])
  await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
  await ask()
  expect([sent().includes('m__go'), lostIn(sent())]).toEqual([true, []])
})

verifies('contract-35.digits', 'an exponent that the database would write out or refuse is named', async () => {
  for (const number of ['1e5000', '1E+200000', '-1.5e-20000', '1e0001000']) {
    const held = `{"type":"object","properties":{"a":{"const":${number}}}}`
    const format = `{"type":"json_schema","json_schema":{"name":"a","schema":${held}}}`
    for (const [method, path, body, field] of [
      ['POST', '/api/v1/http-tools', tool(held).replace('exact', 'extreme'), 'inputSchema'],
      ['PUT', scene.agent, `{"responseFormat":${format}}`, 'responseFormat.json_schema.schema'],
      [
        'PUT',
        `${scene.agent}/tools`,
        `{"approvals":[{"builtInToolId":"current_time","when":${held}}]}`,
        'approvals.0.when',
      ],
    ] as const) {
      const { status, json } = await scene.call(method, path, body)
      const message = `${field}: must not hold a number whose exponent has more than three digits`
      expect([number, status, json.message]).toEqual([number, 400, message])
    }
  }
})
