/** How `{{argument}}` is filled, as the server receives it (contract section 6). */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fillBody, fillUrl, TemplateError, urlTemplateProblem } from '../../../src/tools/http-tools/http-template.ts'
import { callHttpTool, type HttpTool } from '../../../src/tools/http-tools/http-tool.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { parseExact } from '../../../src/untrusted/exact-json.ts'
import { verifies } from '../../verifies.ts'
import { startWebServer } from '../web-server.ts'

/** The request that reaches the server; null, with the reason, if none does. */
async function sent(tool: Partial<Omit<HttpTool, 'url'>> & { path: string }, args: Record<string, unknown>) {
  await using server = await startWebServer((_, response) => response.end('ok'))
  await using outbound = createOutbound({ policy: 'standard', allow: [] })
  const { path, ...rest } = tool
  const whole: HttpTool = {
    id: 't',
    name: 't',
    description: '',
    method: 'GET',
    headers: {},
    body: null,
    inputSchema: null,
    ...rest,
    url: server.url + path,
  }
  const { content } = await callHttpTool(outbound, whole, args, new AbortController().signal)
  const [request] = server.requests
  if (!request) return { refused: content }
  const { method, path: target, body, headers } = request
  return { method, target, body, type: headers['content-type'] ?? null, headers }
}

verifies('contract-6.http-template', 'in the URL arguments are percent-encoded', async () => {
  const args = { id: 'a/b?c#d &é{{q}}%2e', q: 'x&y=z#', n: 5, list: ['a', 1], object: { b: true } }
  expect(
    await sent({ path: '/u/{{id}}/x?q={{ q }}&n={{n}}&l={{list}}&o={{object}}&none={{none}}' }, args),
  ).toMatchObject({
    target:
      '/u/a%2Fb%3Fc%23d%20%26%C3%A9%7B%7Bq%7D%7D%252e/x?q=x%26y%3Dz%23&n=5&l=%5B%22a%22%2C1%5D&o=%7B%22b%22%3Atrue%7D&none=',
  })
})

verifies('contract-6.http-template', 'unnamed arguments go to the query, or into a JSON body', async () => {
  const args = { id: 7, q: 'a b', tags: ['x', 'y'], none: null, deep: { a: 1 } }
  const query = 'fixed=%20&q=a%20b&tags=x&tags=y&deep=%7B%22a%22%3A1%7D'
  for (const method of ['GET', 'DELETE']) {
    const path = '/i/{{id}}?fixed=%20'
    expect(await sent({ method, path }, args)).toMatchObject({ method, target: `/i/7?${query}`, body: '', type: null })
  }
  for (const method of ['POST', 'PUT', 'PATCH']) {
    const request = await sent({ method, path: '/i/{{id}}' }, args)
    expect(request).toMatchObject({ method, target: '/i/7', type: 'application/json' })
    const { id: _, ...rest } = args
    expect(JSON.parse(request.body ?? '')).toEqual(rest)
  }
  const bodied = await sent({ method: 'POST', path: '/i', body: '{"q":"{{q}}"}' }, args)
  expect(bodied).toMatchObject({ target: '/i', body: '{"q":"a b"}' })
  const named = await sent({ method: 'GET', path: '/i', headers: { 'x-q': '{{q}}' } }, { q: 'h', r: 's' })
  expect(named).toMatchObject({ target: '/i?r=s', headers: { 'x-q': 'h' } })
  const taken = { path: '/i', body: '{"q":"{{q}}"}' }
  const removed = await sent({ method: 'DELETE', ...taken }, { q: 'h', r: 's' })
  expect(removed).toMatchObject({ target: '/i?r=s', body: '{"q":"h"}' })
  // A GET has no body that could name one.
  expect(await sent({ method: 'GET', ...taken }, { q: 'h' })).toMatchObject({ target: '/i?q=h', body: '' })
})

verifies('contract-6.http-template', 'in the body arguments are JSON-escaped and change no structure', async () => {
  const evil = 'a", "admin": true, "b": "\\ \n{{n}}'
  const body = '{"name": "Hi {{name}}!", "n": {{n}}, "missing": {{missing}}, "empty": "{{missing}}", "raw": {{name}}}'
  const request = await sent({ method: 'POST', path: '/', body }, { name: evil, n: 5 })
  expect(request.type).toBe('application/json')
  expect(JSON.parse(request.body ?? '')).toEqual({ name: `Hi ${evil}!`, n: 5, missing: null, empty: '', raw: evil })
  const text = await sent(
    { method: 'POST', path: '/', body: 'say {{name}}', headers: { 'Content-Type': 'text/x' } },
    { name: '"' },
  )
  expect(text).toMatchObject({ body: 'say \\"', type: 'text/x' })
  const plain = await sent({ method: 'POST', path: '/', body: 'say {{name}}' }, { name: 'hi' })
  expect(plain).toMatchObject({ body: 'say hi', type: 'text/plain' })
})

verifies('contract-6.http-template', 'in headers control characters are refused', async () => {
  const tool = { path: '/', headers: { 'X-Name': 'n={{name}}' } }
  for (const name of ['a\r\nX-Evil: 1', 'a\nb', 'a\0', 'a\tb', 'a\x7f', 'a\x85']) {
    expect(await sent(tool, { name })).toEqual({ refused: expect.stringMatching(/control characters/) })
  }
  expect(await sent(tool, { name: 'é' })).toMatchObject({
    headers: { 'x-name': Buffer.from('n=é').toString('latin1') },
  })
  for (const header of ['Host', 'Content-Length', 'Transfer-Encoding', 'Connection']) {
    const refused = `The header ${header} may hold no placeholder.`
    expect(await sent({ method: 'POST', path: '/', headers: { [header]: '{{name}}' } }, { name: '5' })).toEqual({
      refused,
    })
  }
})

verifies('contract-6.http-template', 'no argument makes a "." or ".." segment, or an empty one', async () => {
  const cases: [path: string, value: unknown][] = [
    ...['..', '.', '../admin', 'a/../b', '..\\admin', 'a\\..', '/..', '../'].map((x): [string, string] => [
      '/f/{{x}}/g',
      x,
    ]),
    ...[
      ['/f/.{{x}}', '.'],
      ['/f/.{{x}}', ''],
      ['/f/{{x}}{{x}}', '.'],
      ['/f/%2e{{x}}', '.'],
      ['/f\\{{x}}', '..'],
    ].map(([path = '', x]): [string, unknown] => [path, x]),
    ['/f/{{x}}', ''],
    ['/f/{{x}}', undefined],
    ['/f/{{constructor}}', 'x'],
  ]
  for (const [path, x] of cases) {
    expect([path, x, await sent({ method: 'DELETE', path }, { x })]).toEqual([path, x, { refused: expect.any(String) }])
  }
  expect(await sent({ path: '/f/{{x}}' }, { x: '...' })).toMatchObject({ target: '/f/...' })
  expect(await sent({ path: '/f/{{x}}' }, { x: '%2e%2e' })).toMatchObject({ target: '/f/%252e%252e' })
})

describe('contract section 6: no argument can set scheme, host or port', () => {
  test.each([
    'https://{{host}}/x',
    'https://api.{{x}}.test/',
    'https://api.test:{{port}}/',
    'https://api.test{{path}}',
    'https://api.test\n{{path}}',
    '{{scheme}}://api.test/',
    '{{url}}',
    'ftp://api.test/{{x}}',
    'https:///{{x}}',
  ])('%s is no template', (template) => {
    expect(urlTemplateProblem(template)).not.toBeNull()
    expect(() =>
      fillUrl(
        template,
        { host: 'evil.test', x: 'x', port: 1, path: '@evil.test', scheme: 'http', url: 'http://evil.test' },
        {},
      ),
    ).toThrow(TemplateError)
  })
})

test('contract section 6: whatever the arguments, origin and number of segments stay', () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('..', '.', '@evil', '//evil', '\\\\evil', '?', '#', '%2e', ':1'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(value, value, (a, b) => {
      let url: URL
      try {
        url = fillUrl('https://api.test:8443/v1/{{a}}/x-{{b}}?q={{a}}', { a, b }, { c: b })
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError)
        return
      }
      expect(url.origin).toBe('https://api.test:8443')
      expect(url.pathname).toMatch(/^\/v1\/[^/]+\/x-[^/]*$/)
      expect([...url.searchParams.keys()].slice(0, 1)).toEqual(['q'])
    }),
  )
})

test('contract section 6: whatever the arguments, a JSON body keeps its structure', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (text, json) => {
      const filled = fillBody('{"a": "<{{text}}>", "b": [{{json}}], "c\\"{{none}}": 1}', { text, json })
      expect(JSON.parse(filled)).toEqual({
        a: `<${text.toWellFormed()}>`,
        b: [JSON.parse(JSON.stringify(json))],
        'c"': 1,
      })
    }),
  )
})

verifies(
  'contract-35.digits',
  'numbers keep their digits in bodies, queries, paths, headers and templates',
  async () => {
    const args = Object(parseExact('{"id":1917043659912705297,"list":[12345678901234567890123,1.50],"o":{"n":1e400}}'))
    const [id, list] = ['1917043659912705297', '12345678901234567890123']
    expect(await sent({ method: 'POST', path: '/x' }, args)).toMatchObject({
      body: `{"id":${id},"list":[${list},1.50],"o":{"n":1e400}}`,
    })
    expect(await sent({ path: '/x' }, args)).toMatchObject({
      target: `/x?id=${id}&list=${list}&list=1.50&o=%7B%22n%22%3A1e400%7D`,
    })
    const template = '{"id":{{id}},"text":"no. {{id}}","list":{{list}},"o":{{o}}}'
    expect(
      await sent({ method: 'PUT', path: '/{{id}}?q={{id}}', headers: { x: '{{id}}' }, body: template }, args),
    ).toMatchObject({
      target: `/${id}?q=${id}`,
      headers: { x: id },
      body: `{"id":${id},"text":"no. ${id}","list":[${list},1.50],"o":{"n":1e400}}`,
    })
  },
)
