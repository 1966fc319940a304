/** Contract section 25: paths that are not there, base URLs with a slash too many, models by id, foreign preflights. */
import OpenAI from 'openai'
import { afterAll, expect, test } from 'vitest'
import { createPreflightRefusal } from '../../../../src/features/users/access/refused-preflights.ts'
import { verifies } from '../../../verifies.ts'
import { call, nobody, openScene } from '../../scene.ts'

const key = 'the-deploy-key'
const scene = await openScene({ settings: { PUBLIC_API_KEY: key, AUTH_CREDENTIALS: 'admin:secret' } })
afterAll(scene.close)
scene.says(['Fine.'])

const authorized = { authorization: `Bearer ${key}` }
const get = (path: string, method = 'GET') => scene.call(method, path, undefined, authorized)

verifies('contract-25.unknown-paths', 'the nearest path is named, with the ids that stand there', async () => {
  const deploy = `${scene.agent}/deploy`
  for (const [path, nearest] of [
    ['/completions', '/chat/completions'],
    ['/v1/chat/completions', '/chat/completions'],
    ['/chat/completion', '/chat/completions'],
    ['/session', '/sessions'],
    [`/sessions/${nobody}/message`, `/sessions/${nobody}/messages`],
    [`/sessions/${nobody}/completions`, `/sessions/${nobody}/chat/completions`],
    ['/aisdk', '/ai-sdk'],
    ['/agui', '/ag-ui'],
  ]) {
    const { status, json } = await get(`${deploy}${path}`)
    expect([path, status, json.error]).toEqual([
      path,
      404,
      expect.stringMatching(new RegExp(`The nearest path is ${deploy}${nearest}\\.$`)),
    ])
  }
  const openai = await get('/api/v1/openai/completions')
  expect(openai.json.error).toMatch(/The nearest path is \/api\/v1\/openai\/chat\/completions\.$/)
})

verifies(
  'contract-25.unknown-paths',
  'a base URL that leads elsewhere is told the right one, as SDKs show it',
  async () => {
    const deploy = `${scene.agent}/deploy`
    for (const [path, status, meant] of [
      [`${scene.agent}/chat/completions`, 401, `Did you mean ${deploy}/chat/completions?`],
      [`${scene.agent}/v1/responses`, 401, `Did you mean ${deploy}/responses?`],
      ['/api/v1/chat/completions', 401, '/api/v1/openai'],
      ['/v1/chat/completions', 404, '/api/v1/openai'],
      ['/responses', 404, '/api/v1/openai'],
    ] as const) {
      const answer = await get(path, 'POST')
      expect([path, answer.status, answer.json.message]).toEqual([path, status, expect.stringContaining(meant)])
      expect(answer.json.error).toMatchObject({ message: answer.json.message, type: 'invalid_request_error' })
    }
    const client = new OpenAI({ baseURL: `${scene.app.url}/v1`, apiKey: key, maxRetries: 0 })
    const request = client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
    await expect(request).rejects.toThrow(/\/api\/v1\/agents\/<agent id>\/deploy/)
    expect((await get('/api/v1/nothing')).json).toEqual({ message: expect.stringMatching(/^Log in first\./) })
  },
)

verifies('contract-25.unknown-paths', 'an agent by its name is told where names are taken', async () => {
  const { status, json } = await get('/api/v1/agents/Demo/deploy/sessions', 'POST')
  expect([status, json.error]).toEqual([404, expect.stringContaining('/api/v1/openai')])
})

test('a login that is missing names the ways in, and the credential that was none', async () => {
  const said = async (headers: Record<string, string>) =>
    (await scene.call('GET', '/api/v1/agents', undefined, headers)).json.message
  expect(await said({})).toMatch(/^Log in first\. POST \/api\/auth\/login .* Authorization: Bearer\.$/)
  expect(await said(authorized)).toMatch(/The key that was sent is no management key\.$/)
  expect(await said({ authorization: 'Basic eDp5' })).toMatch(/no bearer token\.$/)
})

verifies('contract-25.unknown-paths', 'a wrong method names those that exist', async () => {
  for (const [method, path, allowed] of [
    ['PUT', `${scene.agent}/deploy/sessions/${nobody}`, ['GET', 'PATCH', 'DELETE']],
    ['GET', `${scene.agent}/deploy/chat/completions`, ['POST']],
    ['DELETE', '/api/v1/openai/models', ['GET']],
  ] as const) {
    const { status, json, headers } = await get(path, method)
    expect([method, path, status]).toEqual([method, path, 405])
    for (const one of allowed) {
      expect(json.error).toContain(one)
      expect(headers.get('allow')?.split(', ')).toContain(one)
    }
  }
})

verifies('contract-25.unknown-paths', 'what agents do not do is said in words', async () => {
  for (const path of ['embeddings', 'images/generations', 'audio/speech', 'v1/embeddings', 'vector_stores']) {
    const deploy = `${scene.agent}/deploy`
    for (const root of [deploy, `${deploy}/sessions/${nobody}`, '/api/v1/openai']) {
      const { status, json } = await get(`${root}/${path}`, 'POST')
      expect([path, status, json.error]).toEqual([
        path,
        404,
        expect.stringMatching(/Agents answer chats only, not (?:embeddings|images|audio|vector stores)\.$/),
      ])
    }
  }
})

verifies('contract-25.paths', 'doubled slashes and one at the end change nothing, credentials included', async () => {
  const deploy = `${scene.agent}/deploy`
  for (const path of [`${deploy}/models/`, `/${deploy}//models`, deploy.replaceAll('/', '//').concat('/models///')]) {
    expect([path, (await get(path)).status]).toEqual([path, 200])
    expect([path, (await scene.call('GET', path)).status]).toEqual([path, 401])
  }
  const client = new OpenAI({ baseURL: `${scene.app.url}/${deploy}/`, apiKey: key, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'hi' }]
  expect((await client.chat.completions.create({ model: 'x', messages })).choices[0]?.message.content).toBe('Fine.')
  // Management asks for its login all the same.
  for (const path of ['//api/v1/agents', '/api//v1/agents/', '/api/v1//export']) {
    expect([path, (await scene.call('GET', path)).status]).toEqual([path, 401])
  }
  expect((await scene.call('GET', '//livez/')).status).toBe(200)
  // An encoded slash is none, and a query keeps its own.
  expect((await get(`${deploy}/sessions%2F`)).status).toBe(404)
  expect((await get(`${deploy}/sessions/?q=//a//`)).status).toBe(200)
  expect((await scene.call('GET', '/docs/')).status).toBe((await scene.call('GET', '/docs')).status)
})

verifies('contract-25.models', 'a model is read by its id, on both lists', async () => {
  const client = (baseURL: string) => new OpenAI({ baseURL, apiKey: key, maxRetries: 0 })
  const own = await client(`${scene.app.url}${scene.agent}/deploy`).models.retrieve('test-model')
  expect(own).toEqual({ id: 'test-model', object: 'model', created: expect.any(Number), owned_by: 'greenroom' })
  const openai = client(`${scene.app.url}/api/v1/openai`)
  const expected = { id: scene.agentId, name: 'Agent', object: 'model', created: own.created, owned_by: 'greenroom' }
  for (const name of [scene.agentId, 'Agent']) expect(await openai.models.retrieve(name)).toEqual(expected)
  for (const path of [`${scene.agent}/deploy/models/other`, '/api/v1/openai/models/other']) {
    expect([path, (await get(path)).status, (await scene.call('GET', path)).status]).toEqual([path, 404, 401])
  }
})

verifies(
  'contract-25.cors',
  'a foreign preflight is 403 that names the origin and the setting, before any key',
  async () => {
    const preflight = (path: string) =>
      call(`${scene.app.url}${path}`, 'OPTIONS', undefined, {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
      })
    for (const path of [`${scene.agent}/deploy/sessions`, `/api/v1/agents/${nobody}/deploy/sessions`]) {
      const { status, json, headers } = await preflight(path)
      expect([status, json.error]).toEqual([403, expect.stringMatching(/https:\/\/shop\.example.*allowedOrigins/)])
      expect(headers.get('access-control-allow-origin')).toBeNull()
    }
    const { status, json } = await preflight('/api/v1/openai/models')
    expect([status, json.error]).toEqual([403, expect.stringMatching(/https:\/\/shop\.example.*allowedOrigins/)])
  },
)

verifies('contract-25.cors', 'its log has one line an hour for each origin and agent, 100 an hour', () => {
  let now = 0
  const lines: object[] = []
  const refuse = createPreflightRefusal(() => now)
  const ask = (origin: string, agent_id = 'a') =>
    expect(() =>
      refuse({ headers: { origin }, params: { agent_id }, log: { info: (line: object) => lines.push(line) } } as never),
    ).toThrow(origin)
  for (let n = 0; n < 3; n++) ask('https://one.example')
  ask('https://one.example', 'b')
  expect(lines).toHaveLength(2)
  for (let n = 0; n < 200; n++) ask(`https://${n}.example`)
  expect(lines).toHaveLength(100)
  now = 3_600_000
  ask('https://one.example')
  expect(lines).toHaveLength(101)
})

verifies(
  'contract-25.unknown-parameters',
  'a filter that a list does not have is named, with those that it has',
  async () => {
    const login = await scene.call('POST', '/api/auth/login', { username: 'admin', password: 'secret' })
    const cookie = { cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '' }
    const deploy = await get(`${scene.sessions}?userId=ada`)
    expect([deploy.status, deploy.json.error]).toEqual([
      400,
      expect.objectContaining({ param: 'userId', message: expect.stringMatching(/^userId: .*\buser\b/) }),
    ])
    const management = await scene.call('GET', '/api/v1/agents?name=x', undefined, cookie)
    expect([management.status, management.json.message]).toEqual([400, expect.stringMatching(/^name: /)])
    for (const path of ['/api/v1/provider-types?x=1', '/api/v1/sessions?userId=1', '/api/v1/prompts?offse=1']) {
      expect([path, (await scene.call('GET', path, undefined, cookie)).status]).toEqual([path, 400])
    }
    for (const query of ['_=1', '_rsc=x', 'metadata[a]=b', 'user=ada&limit=1']) {
      expect([query, (await get(`${scene.sessions}?${query}`)).status]).toEqual([query, 200])
    }
  },
)
