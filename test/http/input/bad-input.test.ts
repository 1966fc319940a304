/**
 * No request gives a 500 that is not a real fault: whatever is sent to whichever endpoint gets the right status, in
 * the error format of its surface (specification 7, contract section 2).
 */
import { afterAll, expect } from 'vitest'
import { cellInTier } from '../../support/tier.ts'
import { verifies } from '../../verifies.ts'
import { nobody, openScene } from '../scene.ts'
import { allEndpoints, expectRefusal } from './surfaces.ts'

const scene = await openScene()
afterAll(scene.close)
const { sessionId, endpoints } = await allEndpoints(scene)
/** JSON-RPC has errors of its own. */
const speaksMcp = ({ template }: { template: string }) => template.endsWith('/deploy/mcp')
/** Uploads are forms: their own tests send broken ones. */
const takesForm = ({ template, method }: { template: string; method: string }) =>
  template.endsWith('/files') && method === 'POST'
const withBody = endpoints.filter((one) => one.takesBody && !speaksMcp(one) && !takesForm(one))
const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const field = (json: string) =>
  `{"name":${json},"content":${json},"title":${json},"message":${json},"messages":${json},"username":${json},"arguments":${json}}`
const chatWith = (content: string) =>
  `{"messages":[{"role":"user","content":${content}}],"message":${content},"name":${content},"content":${content},"title":${content},"username":${content},"password":${content},"arguments":{"a":${content}}}`

/** Bodies that no endpoint can take, and their status. */
const bodies: [string, string | Uint8Array, Record<string, string>, number[]][] = [
  ['broken JSON', '{"messages": [', {}, [400]],
  ['no JSON', 'hello', {}, [400]],
  ['JSON with a tail', '{} {}', {}, [400]],
  ['NaN', '{"a": NaN}', {}, [400]],
  ['a byte order mark', '\ufeff{"a" 1}', {}, [400]],
  ['broken UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), {}, [400]],
  ['NUL bytes', '{"name":"a\u0000b"}', {}, [400]],
  ['an array', '[]', {}, [400]],
  ['a string', '"x"', {}, [400]],
  ['null', 'null', {}, [400]],
  ['a number', '5', {}, [400]],
  ['only NULs', '\u0000\u0000', {}, [400]],
  ['U+0000 in a value', chatWith('"a\\u0000b"'), {}, [400]],
  ['a half pair in a value', chatWith('"a\\ud83d"'), {}, [400]],
  ['the other half', chatWith('"\\udc00b"'), {}, [400]],
  ['U+0000 in a key', '{"a\\u0000":1}', {}, [400]],
  ['__proto__', '{"__proto__":{"polluted":true}}', {}, [400]],
  ['__proto__, escaped', '{"\\u005f_proto__":{"polluted":true}}', {}, [400]],
  ['constructor.prototype', '{"constructor":{"prototype":{"polluted":true}}}', {}, [400]],
  ['__proto__ deep inside', '{"messages":[{"role":"user","content":"x","a":[{"__proto__":{}}]}]}', {}, [400]],
  ['another media type', '{}', { 'content-type': 'text/plain' }, [415]],
  ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, [415]],
  ['no media type at all', '{}', { 'content-type': '' }, [415]],
  ['an odd media type', '{}', { 'content-type': ';;;' }, [415]],
  ['5 MiB', JSON.stringify({ name: 'x'.repeat(5 * 2 ** 20) }), {}, [413]],
  ['compressed', new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), { 'content-encoding': 'gzip' }, [415]],
]

verifies(
  ['contract-2.text', 'contract-2.errors', 'spec-7.1.errors', 'contract-1.body-limit'],
  'bodies that cannot be taken',
  async () => {
    const isTried = cellInTier(6)
    for (const [row, { method, path, template }] of withBody.entries()) {
      for (const [name, body, headers, statuses] of bodies.filter((_, column) => isTried(row, column))) {
        const answer = await scene.call(method, path, body, headers)
        // Where the id is unknown, or the login needs no body at all here, the path may be told first.
        expectRefusal(`${method} ${template} ${name}`, path, [...statuses, 404], answer)
      }
    }
    expect('polluted' in {}).toBe(false)
  },
)

/** Values of the wrong type in every field that there is: refused, or ignored where the field is unknown. */
const oddValues = [
  'null',
  '5',
  '-1e400',
  '1e400',
  '99999999999999999999999',
  'true',
  '{}',
  '[]',
  '[[]]',
  '[null]',
  '""',
  '{"length":1}',
  '"toString"',
  deep(5000),
]

verifies(
  ['contract-2.errors', 'spec-7.1.errors'],
  'wrong types, huge numbers and deep nesting are no fault of the server',
  async () => {
    const isTried = cellInTier(5)
    for (const [row, { method, path, template }] of withBody.entries()) {
      if (/\/providers\/\{id\}$|\/prompts\/\{id\}$|^\/api\/v1\/agents\/\{id\}$/.test(template)) continue // below
      for (const value of oddValues.filter((_, column) => isTried(row, column))) {
        const answer = await scene.call(method, path, field(value))
        const statuses = [200, 201, 204, 400, 404, ...(path.startsWith('/api/auth/') ? [413] : [])]
        expectRefusal(`${method} ${template} ${value.slice(0, 30)}`, path, statuses, answer)
        await scene.cancel(sessionId)
      }
    }
  },
)

verifies(
  ['contract-2.errors', 'spec-7.1.errors'],
  'JSON nested 100,000 deep, where it is ignored and where it counts, with and without a key',
  async () => {
    const nested = deep(100_000)
    const valid = '"role":"user","content":"x"'
    for (const [path, body] of [
      [`${scene.agent}/deploy/chat/completions`, `{"messages":[{${valid}}],"metadata":${nested}}`],
      [`${scene.agent}/deploy/chat/completions`, `{"messages":[{"role":"user","content":${nested}}]}`],
      [`${scene.sessions}/${sessionId}/chat/completions`, `{"messages":[{${valid}}],"metadata":${nested}}`],
      [`${scene.sessions}/${sessionId}/chat/completions`, `{"messages":${nested}}`],
      [scene.sessions, `{"title":"t","x":${nested}}`],
      [`${scene.agent}/playground/chat`, `{"message":"x","configOverrides":{"x":${nested}}}`],
      ['/api/v1/prompts', `{"name":"n","content":"c","x":${nested}}`],
      ['/api/v1/prompts', `{"name":"n","content":"\\u0041","x":${nested}}`],
      [
        '/api/v1/http-tools',
        `{"name":"n","description":"d","method":"GET","url":"http://a.example/","inputSchema":{"type":"object","x":${nested}}}`,
      ],
    ] as const) {
      for (const headers of [{}, { 'idempotency-key': crypto.randomUUID() }] as Record<string, string>[]) {
        const answer = await scene.call('POST', path, body, headers)
        expectRefusal(`${path} ${body.slice(0, 60)} ${Object.keys(headers)}`, path, [200, 201, 400], answer)
      }
    }
  },
)

verifies(['contract-2.errors', 'spec-7.1.errors'], 'malformed ids are 404 everywhere', async () => {
  const odd = [
    'x',
    '0',
    '%00',
    '%ff',
    '..%2f..',
    "'%20or%201=1",
    '{id}',
    'null',
    `${nobody}x`,
    'x'.repeat(150),
    '%F0%9F%98%80',
    'constructor',
  ]
  const withId = endpoints.filter(
    (one) => one.template.includes('{') && !speaksMcp(one) && !one.template.endsWith('/search'),
  )
  const isTried = cellInTier(4)
  for (const [row, { method, template }] of withId.entries()) {
    for (const id of odd.filter((_, column) => isTried(row, column))) {
      const path = template.replace(/\{\w+\}/g, id)
      const answer = await scene.call(method, path, method === 'POST' || method === 'PUT' ? {} : undefined)
      // A body may be looked at before the id is.
      expectRefusal(`${method} ${path}`, path, [404, 400], answer)
      if (method === 'GET' || method === 'DELETE') expect([path, answer.status]).toEqual([path, 404])
    }
  }
})

verifies(
  ['contract-2.text', 'contract-2.errors'],
  'a user with U+0000 in a path is 400, and nothing else',
  async () => {
    const ofUsers = endpoints.filter(({ template }) => template.includes('{user}'))
    expect(ofUsers.length).toBeGreaterThan(8)
    for (const { method, template } of ofUsers) {
      const path = template
        .replace('{agent_id}', scene.agentId)
        .replace('{user}', 'a%00b')
        .replace(/\{\w+\}/g, nobody)
      expectRefusal(`${method} ${template}`, path, [400], await scene.call(method, path))
    }
  },
)
