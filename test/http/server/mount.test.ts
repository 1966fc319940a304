import { connect } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sessions } from '../../../openapi/operations/deploy/sessions.ts'
import { agentTools } from '../../../openapi/operations/records/agentTools.ts'
import { prompts } from '../../../openapi/operations/records/prompts.ts'
import { registerJson } from '../../../src/http/server/body.ts'
import { type HttpError, missing } from '../../../src/http/server/http-error.ts'
import { type Handlers, mount } from '../../../src/http/server/mount.ts'

const id = '00000000-0000-4000-8000-000000000009'
const at = '2026-01-01T00:00:00Z'
const prompt = { id, name: 'n', content: 'c', createdAt: at, updatedAt: at }
let seen: { params: unknown; query: unknown; body: unknown } | undefined

const promptHandlers = {
  listPrompts: ({ params, query, body }) => {
    seen = { params, query, body }
    return { prompts: [], total: 0, limit: query.limit, offset: query.offset }
  },
  createPrompt: ({ params, query, body }) => {
    seen = { params, query, body }
    return prompt
  },
  getPrompt: () => missing('prompt'),
  updatePrompt: ({ params, query, body }) => {
    seen = { params, query, body }
    return prompt
  },
  deletePrompt: async () => {},
} satisfies Handlers<'prompts'>

const session = {
  id,
  agent_id: id,
  title: null,
  user: null,
  metadata: {},
  external_id: null,
  agent_version: null,
  archived: false,
  pending: [],
  head_id: null,
  forked_from: null,
  parent: null,
  created_at: at,
  updated_at: at,
}
const sessionHandlers = {
  createSession: ({ body }) => ({ ...session, title: body.title ?? null }),
  listSessions: ({ query }) => ({ sessions: [], total: 0, ...query }),
  listSessionChildren: ({ query }) => ({ sessions: [], total: 0, ...query }),
  streamSessions: () => undefined,
  getSession: ({ params }) => ({ ...session, id: params.session_id }),
  updateSession: ({ params }) => ({ ...session, id: params.session_id }),
  listSessionMessages: async () => ({ messages: [] }),
  getMessagePart: () => undefined,
  moveHead: ({ params }) => ({ ...session, id: params.session_id }),
  deleteSession: () => {},
} satisfies Handlers<'sessions'>
let app: FastifyInstance
beforeAll(async () => {
  app = Fastify({ bodyLimit: 1 << 20 })
  registerJson(app, 'management')
  app.setErrorHandler((error: HttpError, _request, reply) =>
    reply.code(error.statusCode ?? 500).send({ message: error.message }),
  )
  mount(app, prompts, promptHandlers)
  await app.register(async (scope) => mount(scope, sessions, sessionHandlers), {
    prefix: '/api/v1/agents/:agent_id/deploy',
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app.close())

const ask = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: string | Buffer, type?: string) =>
  app.inject({
    method,
    url,
    ...(body === undefined ? {} : { payload: body }),
    headers: type === undefined ? {} : { 'content-type': type },
  })
const post = (body: string | Buffer) => ask('POST', '/api/v1/prompts', body, 'application/json')
const deploySessions = `/api/v1/agents/${id}/deploy/sessions`

describe('routes', () => {
  test('the success status is that of the operation', async () => {
    expect((await ask('GET', '/api/v1/prompts')).statusCode).toBe(200)
    expect((await post('{"name":"n","content":"c"}')).statusCode).toBe(201)
    const gone = await ask('DELETE', `/api/v1/prompts/${id}`)
    expect([gone.statusCode, gone.body]).toEqual([204, ''])
  })

  test('an HttpError keeps its status and message', async () => {
    const answer = await ask('GET', '/api/v1/prompts/x')
    expect([answer.statusCode, answer.json()]).toEqual([404, { message: 'There is no such prompt.' }])
  })

  test('paths are whole ones in a scope with a prefix too, and their parameters arrive', async () => {
    expect((await ask('GET', `${deploySessions}/abc`)).json()).toMatchObject({ id: 'abc' })
  })

  test('an operation without a handler stops the start', () => {
    const none = {} as unknown as Handlers<'agentTools'>
    expect(() => mount(Fastify(), agentTools, none)).toThrow('getAgentTools')
  })
})

describe('limit and offset (contract section 2, specification 8)', () => {
  test('defaults are 20 and 0', async () => {
    await ask('GET', '/api/v1/prompts')
    expect(seen?.query).toEqual({ limit: 20, offset: 0 })
  })

  test.each([
    ['limit=5&offset=7&q=a%20b&_other=1', { limit: 5, offset: 7, q: 'a b' }],
    ['limit=101', { limit: 101, offset: 0 }],
    ['limit=007', { limit: 7, offset: 0 }],
    ['offset=-0', { limit: 20, offset: 0 }],
  ])('%s is read', async (query, wanted) => {
    expect((await ask('GET', `/api/v1/prompts?${query}`)).statusCode).toBe(200)
    expect(seen?.query).toStrictEqual(wanted)
  })

  test.each([
    ['limit=0', 'limit: must be at least 1'],
    ['limit=-1', 'limit: must be at least 1'],
    ['offset=-1', 'offset: must be at least 0'],
    ...['1e1', '5.0', '%205', '+5', '0x10', '', 'abc', 'NaN', '٣'].map((bad) => [
      `limit=${encodeURI(decodeURI(bad))}`,
      'limit: must be a whole number',
    ]),
    ['limit=1&limit=2', 'limit: may be given only once'],
    ['offset=99999999999999999999', 'offset: must be at most 9007199254740991'],
    ['q=a%00b', 'q: must not hold the character U+0000'],
  ])('%s is 400', async (query, message) => {
    const answer = await ask('GET', `/api/v1/prompts?${query}`)
    expect([answer.statusCode, answer.json()]).toEqual([400, { message }])
  })
})

describe('bodies (contract section 2)', () => {
  test.each([
    ['{"name":"","content":""}', 'name: must have at least 1 character'],
    [`{"name":"${'a'.repeat(201)}","content":""}`, 'name: must have at most 200 characters'],
    ['{"content":""}', 'name: is required'],
    ['{"name":1,"content":""}', 'name: must be a string'],
    ['{"name":null,"content":""}', 'name: must be a string'],
    ['[]', 'body: must be an object'],
    ['null', 'body: must be an object'],
    ['"x"', 'body: must be an object'],
    ['', 'body: must be an object'],
  ])('%s is 400 with the reason', async (body, message) => {
    const answer = await post(body)
    expect([answer.statusCode, answer.json()]).toEqual([400, { message }])
  })

  test('names have up to 200 code points', async () => {
    expect((await post(JSON.stringify({ name: '🎭'.repeat(200), content: '' }))).statusCode).toBe(201)
    expect((await post(JSON.stringify({ name: '🎭'.repeat(201), content: '' }))).statusCode).toBe(400)
  })

  test('a whole record can be put back, with no other field', async () => {
    const put = (body: object) => ask('PUT', `/api/v1/prompts/${id}`, JSON.stringify(body), 'application/json')
    expect((await put(prompt)).statusCode).toBe(200)
    const answer = await put({ ...prompt, more: 1 })
    expect([answer.statusCode, answer.json().message]).toEqual([400, expect.stringMatching(/\bmore\b/)])
  })

  test.each([
    '{',
    '{"name":}',
    '{"a":1}x',
    'nope',
    '{"name":"\u0000"}',
    "{'a':1}",
  ])('%j is not JSON: 400', async (body) => {
    const answer = await post(body)
    expect(answer.statusCode).toBe(400)
    expect(answer.json().message).toMatch(/^body: is not valid JSON/)
  })

  test('what a broken body holds is not said again', async () => {
    expect((await post('{"apiKey":"sk-secret"')).body).not.toContain('secret')
    expect((await post('sk-secret')).body).not.toContain('secret')
  })

  test('invalid UTF-8 is 400', async () => {
    for (const bytes of [[0xff], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('","content":""}')])
      const answer = await post(body)
      expect([answer.statusCode, answer.json()]).toEqual([400, { message: 'body: is not valid UTF-8' }])
    }
  })

  test('a byte order mark is not content', async () => {
    expect((await post('\ufeff{"name":"n","content":"c"}')).statusCode).toBe(201)
  })

  test.each([
    '{"__proto__":{"x":1}}',
    '{"a":[{"__proto__":1}]}',
    '{"\\u005f_proto__":1}',
    '{"constructor":{"prototype":{}}}',
  ])('%s is 400', async (body) => {
    const answer = await post(body)
    expect(answer.statusCode).toBe(400)
    expect(answer.json().message).toMatch(/: is not allowed as a key$/)
  })

  test.each([
    ['{"name":"a\\u0000b","content":""}', 'name: must not hold the character U+0000'],
    ['{"name":"n","content":"\\ud83c"}', 'content: must not hold one half of a surrogate pair'],
    ['{"name":"n","content":"\\uDFAD"}', 'content: must not hold one half of a surrogate pair'],
    [
      '{"name":"n","content":"","x":{"y":[1,{"z":"\\udfad\\ud83c"}]}}',
      'x.y.1.z: must not hold one half of a surrogate pair',
    ],
    ['{"name":"n","content":"","a\\u0000":1}', 'a\\u0000: must not hold the character U+0000'],
    ['"\\u0000"', 'body: must not hold the character U+0000'],
  ])('%s cannot be stored: 400', async (body, message) => {
    const answer = await post(body)
    expect([answer.statusCode, answer.json()]).toEqual([400, { message }])
  })

  test.each(['\\ud83c\\udfad', '\\\\u0000', '\\u0041', '\\\\ud83c'])('%s can be stored', async (text) => {
    expect((await post(`{"name":"n","content":"${text}"}`)).statusCode).toBe(201)
  })

  test('200 levels are taken, with and without escapes to look at; 100,000 do no harm', async () => {
    const inside = (levels: number, json = '') => '['.repeat(levels) + json + ']'.repeat(levels)
    const deepest = inside(199)
    // What is within the limits is read, and refused for its unknown field alone.
    for (const content of ['', '\\\\u0000']) {
      const read = await post(`{"name":"n","content":"${content}","x":${deepest}}`)
      expect([read.statusCode, read.json().message]).toEqual([400, expect.stringMatching(/\bx\b/)])
    }
    const bad = await post(`{"name":"n","content":"","x":${inside(199, '"\\u0000"')}}`)
    expect([bad.statusCode, bad.json()]).toEqual([400, { message: '0.0.0.0.0.0: must not hold the character U+0000' }])
    const proto = await post(`{"name":"n","content":"","x":${inside(198, '{"__proto__":1}')}}`)
    expect([proto.statusCode, proto.json().message]).toEqual([400, expect.stringMatching(/__proto__: is not allowed/)])
    const deep = await post(`{"name":"n","content":"","x":${inside(1e5)}}`)
    expect([deep.statusCode, deep.json()]).toEqual([400, { message: 'body: must not be nested more than 200 deep' }])
  })
})

describe('media types and sizes (contract sections 1 and 2)', () => {
  const body = '{"name":"n","content":"c"}'

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])('%s is read', async (type) => {
    expect((await ask('POST', '/api/v1/prompts', body, type)).statusCode).toBe(201)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'text/json',
    'nonsense',
    'application/yaml',
  ])('%s is 415', async (type) => {
    expect((await ask('POST', '/api/v1/prompts', body, type)).statusCode).toBe(415)
  })

  test('a body without a media type is 415', async () => {
    const socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1')
    socket.end(
      `POST /api/v1/prompts HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    let answer = ''
    for await (const chunk of socket) answer += chunk
    expect(answer).toMatch(/^HTTP\/1.1 415 /)
  })

  test('a body over the limit is 413', async () => {
    expect((await post(`{"name":"n","content":"${'a'.repeat(1 << 20)}"}`)).statusCode).toBe(413)
  })

  test.each([
    undefined,
    'application/json',
    'text/plain',
  ])('an empty body of type %s is fine where none is needed', async (type) => {
    expect((await ask('POST', deploySessions, '', type)).statusCode).toBe(201)
    expect((await ask('DELETE', `/api/v1/prompts/${id}`, '', type)).statusCode).toBe(204)
    expect((await ask('POST', '/api/v1/prompts', '', type)).statusCode).toBe(400)
  })

  test.each([
    '{}',
    '{"title":null}',
    '{"title":"t"}',
    '',
  ])('a session is created from %j (specification 4.12)', async (text) => {
    expect((await ask('POST', deploySessions, text, 'application/json')).statusCode).toBe(201)
  })

  test.each(['null', '[]', '{"title":""}', '{"title":1}'])('no session is created from %j', async (text) => {
    expect((await ask('POST', deploySessions, text, 'application/json')).statusCode).toBe(400)
  })
})
