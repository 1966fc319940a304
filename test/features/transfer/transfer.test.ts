/** Contract section 8: export and import of the configuration, by name, without secrets, all or nothing. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { stringify } from 'yaml'
import { openScene, type Scene } from '../../http/scene.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { verifies } from '../../verifies.ts'

let from: Scene
let to: Scene
beforeAll(async () => {
  from = await openScene({ settings: {} })
  to = await openScene({ settings: {} })
})
afterAll(() => Promise.all([from.close(), to.close()]))

const openGuarded = async () => {
  const guarded = await openScene({ settings: { AUTH_CREDENTIALS: 'anna:secret:word' } })
  return { ...guarded, [Symbol.asyncDispose]: guarded.close }
}

const exported = async (scene: Scene) => (await scene.call('GET', '/api/v1/export')).json
const imported = (scene: Scene, body: unknown, headers = {}) => scene.call('POST', '/api/v1/import', body, headers)
const make = async (scene: Scene, path: string, body: object) => (await scene.call('POST', path, body)).json.id
const storedSecret = async (scene: Scene, name: string) => {
  const [row] = await scene.app.sql`select secret_headers as sealed from http_tools where name = ${name}`
  return row?.sealed
}

const inputSchema = { type: 'object', properties: { zeta: { type: 'string' }, alpha: { type: 'string' } } }
const weather = { name: 'weather', description: 'Tells it.', method: 'GET', url: 'https://w.example.com/{{zeta}}' }

async function furnish(scene: Scene): Promise<void> {
  const provider = {
    name: 'Vendor',
    providerType: 'openai-compatible',
    baseUrl: scene.up.url,
    apiKey: 'sk-very-secret',
  }
  const providerId = await make(scene, '/api/v1/settings/providers', provider)
  const promptId = await make(scene, '/api/v1/prompts', { name: 'Kind', content: 'Be kind.\nAlways: "yes"' })
  const headers = { 'X-Api-Key': 'tool-secret', 'X-Plain': 'seen' }
  const toolId = await make(scene, '/api/v1/http-tools', { ...weather, headers, inputSchema })
  const server = {
    name: 'files',
    transport: 'sse',
    url: 'https://mcp.example.com/',
    headers: { Authorization: 'Bearer b' },
  }
  const mcpServerId = await make(scene, '/api/v1/mcp-servers', server)
  const generationConfig = { temperature: 0.5, maxToolCalls: 3 }
  const agent = { name: 'Helper', providerId, model: 'm-1', promptId, generationConfig }
  const agentId = await make(scene, '/api/v1/agents', agent)
  await scene.call('PUT', `/api/v1/agents/${agentId}/tools`, {
    httpToolIds: [toolId],
    mcpServers: [{ mcpServerId, toolNames: ['*'] }],
    builtInToolIds: ['web_fetch'],
    approvals: ['weather'],
  })
}

verifies('contract-8.export', 'all references are names, in order, without secrets', async () => {
  await furnish(from)
  const { text, json } = await from.call('GET', '/api/v1/export')
  expect(text).not.toMatch(/secret|Bearer b|"id"/)
  expect(json).toMatchObject({
    version: 1,
    providers: expect.arrayContaining([{ name: 'Vendor', wireApi: 'chat_completions' }]),
    prompts: [{ name: 'Kind', content: 'Be kind.\nAlways: "yes"' }],
    agents: [{ name: 'Agent' }, { name: 'Helper', provider: 'Vendor', model: 'm-1', prompt: 'Kind' }],
    httpTools: [{ ...weather, headers: { 'X-Api-Key': '***', 'X-Plain': 'seen' }, inputSchema }],
    mcpServers: [{ name: 'files', transport: 'sse', headers: { Authorization: '***' } }],
    agentTools: [
      { agent: 'Agent', httpTools: [], mcpServers: [], builtInTools: [], approvals: [] },
      {
        agent: 'Helper',
        httpTools: ['weather'],
        mcpServers: [{ server: 'files', toolNames: ['*'] }],
        builtInTools: ['web_fetch'],
        approvals: ['weather'],
      },
    ],
  })
  expect(Object.keys(json.httpTools[0].inputSchema.properties)).toEqual(['zeta', 'alpha'])
})

verifies('contract-8.import', 'importing an export at its source changes nothing', async () => {
  const copy = await exported(from)
  const sealed = await storedSecret(from, 'weather')
  expect((await imported(from, copy)).json).toEqual({ created: 0, updated: 0, skipped: [] })
  copy.httpTools[0].description = 'Tells the weather.'
  copy.prompts[0].content = 'Be kinder.'
  copy.agentTools[1].builtInTools = []
  expect((await imported(from, copy)).json).toEqual({ created: 0, updated: 3, skipped: [] })
  expect(await exported(from)).toEqual(copy)
  // `***` keeps the stored value, encrypted again.
  expect(await storedSecret(from, 'weather')).toEqual(expect.any(String))
  expect(await storedSecret(from, 'weather')).not.toBe(sealed)
})

verifies(
  'contract-8.import',
  'on another server: records without their provider or secrets are skipped, with the reason',
  async () => {
    const copy = await exported(from)
    copy.providers = copy.providers.filter(({ name }: { name: string }) => name === 'Vendor')
    copy.agents = copy.agents.slice(1)
    copy.agentTools = copy.agentTools.slice(1)
    expect((await imported(to, copy)).json).toEqual({
      created: 1,
      updated: 0,
      skipped: [
        { kind: 'provider', name: 'Vendor', reason: 'there is no provider called "Vendor"' },
        { kind: 'httpTool', name: 'weather', reason: 'headers.X-Api-Key: there is no stored value to keep' },
        { kind: 'mcpServer', name: 'files', reason: 'headers.Authorization: there is no stored value to keep' },
        { kind: 'agent', name: 'Helper', reason: 'there is no provider called "Vendor"' },
        { kind: 'agentTools', name: 'Helper', reason: 'there is no agent called "Helper"' },
      ],
    })
    const baseUrl = 'http://127.0.0.1:9/v1'
    await make(to, '/api/v1/settings/providers', { name: 'Vendor', providerType: 'openai-compatible', baseUrl })
    copy.httpTools[0].headers['X-Api-Key'] = 'a new one'
    copy.mcpServers[0].headers = null
    expect((await imported(to, copy)).json).toEqual({ created: 3, updated: 1, skipped: [] })
    expect((await exported(to)).agentTools[1]).toEqual(copy.agentTools[0])
  },
)

verifies('contract-8.import', 'YAML is equivalent to JSON; broken YAML, tags and aliases are 400', async () => {
  const yaml = { 'content-type': 'application/yaml; charset=utf-8' }
  const file = { version: 1, prompts: [{ name: 'From YAML', content: 'Line one\nline: two # no comment\n' }] }
  expect((await imported(to, stringify(file), yaml)).json).toEqual({ created: 1, updated: 0, skipped: [] })
  expect((await imported(to, file)).json).toEqual({ created: 0, updated: 0, skipped: [] })
  for (const [text, reason] of [
    ['version: 1\nprompts: [', /^body: is not valid YAML \(line 2\)$/],
    ['version: 1\nprompts: !secret-words\n', /^body: is not valid YAML \(line 2\)$/],
    ['version: &a 1\nprompts: *a\n', /^body: is not valid YAML \(aliases are not taken\)$/],
    ['a: &a [*a]\n', /^body: is not valid YAML \(aliases are not taken\)$/],
    ['version: 1\nversion: 1\n', /^body: is not valid YAML/],
    ['version: 1\n--- 2\n', /^body: is not valid YAML/],
    ['version: 1\n__proto__: {}\n', /__proto__: is not allowed as a key/],
    ['version: 1\nprompts: [{name: "a\\0", content: b}]', /U\+0000/],
    ['version: 2', /^version: must be one of 1/],
    ['[', /^body: is not valid YAML/],
    ['['.repeat(100_000), /^body: /],
    ['just words', /^body: must be an object/],
  ] as const) {
    const { status, json } = await imported(to, text, yaml)
    expect([text.slice(0, 40), status, json]).toEqual([
      text.slice(0, 40),
      400,
      { message: expect.stringMatching(reason) },
    ])
  }
})

verifies('contract-8.import', 'only the import accepts YAML', async () => {
  const { status } = await to.call('POST', '/api/v1/prompts', 'name: p\ncontent: c', { 'content-type': 'text/yaml' })
  expect(status).toBe(415)
})

verifies('contract-8.import', 'a name that matches two records, or occurs twice in the file, is skipped', async () => {
  for (const content of ['1', '2']) await make(to, '/api/v1/prompts', { name: 'Twin', content })
  const { json } = await imported(to, {
    version: 1,
    prompts: [
      { name: 'Twin', content: '3' },
      { name: 'New', content: '1' },
      { name: 'New', content: '2' },
    ],
    agents: [{ name: 'Of a twin', provider: 'Vendor', model: 'm', prompt: 'Twin' }],
  })
  expect(json).toEqual({
    created: 1,
    updated: 0,
    skipped: [
      { kind: 'prompt', name: 'Twin', reason: 'there are 2 prompts called "Twin"' },
      { kind: 'prompt', name: 'New', reason: 'the name is there twice in what is imported' },
      { kind: 'agent', name: 'Of a twin', reason: 'there are 2 prompts called "Twin"' },
    ],
  })
})

verifies('contract-8.import', 'a selection is imported without missing tools, which are listed', async () => {
  for (const name of ['twin', 'twin', 'clock']) await make(to, '/api/v1/http-tools', { ...weather, name, inputSchema })
  const locked = { ...weather, name: 'locked', headers: { 'X-Api-Key': '***' } }
  const choice = {
    agent: 'Helper',
    httpTools: ['locked', 'clock', 'twin'],
    mcpServers: [{ server: 'nowhere', toolNames: ['*'] }],
    builtInTools: ['web_fetch', 'crystal_ball'],
  }
  const skipped = [
    { kind: 'httpTool', name: 'locked', reason: 'headers.X-Api-Key: there is no stored value to keep' },
    ...[
      'there is no HTTP tool called "locked"',
      'there are 2 HTTP tools called "twin"',
      'there is no MCP server called "nowhere"',
      'there is no built-in tool called "crystal_ball"',
      'there is no agent called "Nobody"',
    ].map((reason) => ({ kind: 'agentTools', name: 'Helper', reason: `left out: ${reason}` })),
  ]
  const file = { version: 1, httpTools: [locked], agentTools: [{ ...choice, agentTools: [{ agent: 'Nobody' }] }] }
  expect((await imported(to, file)).json).toEqual({ created: 0, updated: 1, skipped })
  const taken = { ...choice, httpTools: ['clock'], mcpServers: [], builtInTools: ['web_fetch'], approvals: ['weather'] }
  expect((await exported(to)).agentTools).toContainEqual(taken)
  expect((await imported(to, file)).json).toEqual({ created: 0, updated: 0, skipped })
  // Absent arrays keep the selection.
  expect((await imported(to, { version: 1, agentTools: [{ agent: 'Helper', httpTools: [] }] })).json.updated).toBe(1)
  expect((await exported(to)).agentTools).toContainEqual({ ...taken, httpTools: [] })
})

verifies('contract-8.import', 'a body that violates the contract, or a fault in between, changes nothing', async () => {
  const before = await exported(to)
  const prompts = [{ name: 'Never', content: 'c' }]
  expect((await imported(to, { version: 1, prompts, agents: [{ name: 'a' }] })).status).toBe(400)
  await to.app.sql`alter table agents add constraint no_more check (model <> 'refused')`
  const agents = [{ name: 'a', provider: 'Vendor', model: 'refused' }]
  expect((await imported(to, { version: 1, prompts, agents })).status).toBe(500)
  expect(await exported(to)).toEqual(before)
})

verifies('contract-8.import', 'a URL that moves to another origin needs its secrets again', async () => {
  const copy = await exported(to)
  copy.httpTools[0].url = 'https://thief.example.com/'
  const { json } = await imported(to, copy)
  const reason = 'headers.X-Api-Key: must be sent again when url moves to another origin'
  expect(json.skipped).toContainEqual({ kind: 'httpTool', name: 'weather', reason })
})

verifies('contract-8.import', 'the command imports a file, and its exit code shows whether all of it', async () => {
  await using guarded = await openGuarded()
  const folder = await temporaryFolder('import')
  const file = join(folder, 'configuration.yaml')
  const run = async (login: string) => {
    const environment = { ...process.env, GREENROOM_URL: `${guarded.app.url}/`, GREENROOM_LOGIN: login }
    const options = { cwd: fileURLToPath(new URL('../../..', import.meta.url)), env: environment }
    return promisify(execFile)(process.execPath, ['src/cli/main.ts', 'import', file], options).then(
      ({ stdout }) => [0, stdout],
      ({ code, stdout, stderr }) => [code, `${stdout}${stderr}`],
    )
  }
  expect(await run('anna:secret:word')).toEqual([
    2,
    expect.stringContaining(`${file} cannot be read (ENOENT: no such file`),
  ])
  await writeFile(file, stringify({ version: 1, prompts: [{ name: 'P', content: 'c' }] }))
  expect(await run('anna:secret:word')).toEqual([0, 'Created 1, updated 0, skipped 0.\n'])
  await writeFile(file, stringify({ version: 1, agents: [{ name: 'A', provider: 'none', model: 'm' }] }))
  const skipped = 'Skipped agent "A": there is no provider called "none"\n'
  expect(await run('anna:secret:word')).toEqual([1, `Created 0, updated 0, skipped 1.\n${skipped}`])
  expect(await run('anna:wrong')).toEqual([2, expect.stringContaining('401')])
})

verifies(
  ['contract-8.export', 'contract-25.approved-identities'],
  'approvals are carried by the names of records, with what a name meant that has moved',
  async () => {
    const { json } = await from.call('GET', '/api/v1/agents')
    const helper = json.agents.find(({ name }: { name: string }) => name === 'Helper')
    const tools = (await from.call('GET', `/api/v1/agents/${helper.id}/tools`)).json
    const [{ mcpServerId }] = tools.mcpServers
    const approvals = ['weather', { mcpServerId, toolName: 'read' }, { builtInToolId: 'web_fetch' }]
    await from.call('PUT', `/api/v1/agents/${helper.id}/tools`, { approvals })
    const byName = [{ mcpServer: 'files', toolName: 'read' }, { builtInTool: 'web_fetch' }]
    const carried = async () => {
      const { agentTools } = await exported(from)
      return agentTools.find(({ agent }: { agent: string }) => agent === 'Helper').approvals
    }
    expect(await carried()).toEqual(['weather', ...byName])
    await from.call('PUT', `/api/v1/http-tools/${tools.httpToolIds[0]}`, { name: 'climate' })
    expect(await carried()).toEqual(['weather', { httpTool: 'climate' }, ...byName])
    expect((await imported(from, await exported(from))).json).toEqual({ created: 0, updated: 0, skipped: [] })
  },
)

verifies(
  'contract-19.wire-api',
  'an export names it by provider, an import sets it on the provider of that name',
  async () => {
    await make(from, '/api/v1/settings/providers', { name: 'Speaker', providerType: 'openai', apiKey: 'k' })
    await make(from, '/api/v1/settings/providers', { name: 'Claude', providerType: 'anthropic', apiKey: 'k' })
    expect((await exported(from)).providers).toContainEqual({ name: 'Speaker', wireApi: 'responses' })
    expect((await exported(from)).providers).not.toContainEqual(expect.objectContaining({ name: 'Claude' }))
    const providers = ['Speaker', 'Claude', 'Nobody'].map((name) => ({ name, wireApi: 'chat_completions' }))
    expect((await imported(from, { version: 1, providers })).json).toEqual({
      created: 0,
      updated: 1,
      skipped: [
        { kind: 'provider', name: 'Claude', reason: 'wireApi: its type has one API only' },
        { kind: 'provider', name: 'Nobody', reason: 'there is no provider called "Nobody"' },
      ],
    })
    expect((await exported(from)).providers).toContainEqual({ name: 'Speaker', wireApi: 'chat_completions' })
  },
)
