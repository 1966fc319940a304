/** No request line and no header gives a 500 either (see bad-input.test.ts): queries, paths, methods, headers, lengths. */
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, expect } from 'vitest'
import { cellInTier } from '../../support/tier.ts'
import { verifies } from '../../verifies.ts'
import { openScene } from '../scene.ts'
import { allEndpoints, expectRefusal } from './surfaces.ts'

const scene = await openScene()
afterAll(scene.close)
const { sessionId, endpoints } = await allEndpoints(scene)

verifies(['contract-2.lists', 'spec-7.1.errors'], 'odd numbers in limit and offset are 400 on every list', async () => {
  const lists = endpoints.filter(
    ({ method, template }) =>
      method === 'GET' && /(?:providers|prompts|agents|http-tools|mcp-servers|sessions|transitions)$/.test(template),
  )
  expect(lists.length).toBeGreaterThanOrEqual(8)
  for (const { path } of lists) {
    for (const query of [
      'limit=0',
      'limit=-1',
      'limit=1.5',
      'limit=x',
      'limit=',
      'limit=1e2',
      'limit=%00',
      'limit=1&limit=2',
      'offset=-1',
      'offset=x',
      'offset=1.0',
    ]) {
      expectRefusal(`${path}?${query}`, path, [400], await scene.call('GET', `${path}?${query}`))
    }
    for (const query of [
      'offset=9223372036854775808',
      `offset=${'9'.repeat(320)}`,
      `limit=${'9'.repeat(320)}`,
      'limit=1000000',
      '_x=1',
    ]) {
      expectRefusal(`${path}?${query}`, path, [200, 400], await scene.call('GET', `${path}?${query}`))
    }
  }
  for (const { path } of lists) {
    for (const query of ['x=1', 'constructor=1', 'toString=1', 'limit%5B0%5D=1']) {
      expectRefusal(`${path}?${query}`, path, [400], await scene.call('GET', `${path}?${query}`))
    }
  }
  for (const q of ['%00', '%ff', '%25', '%5C', "'", '%F0%9F%98%80', 'x'.repeat(5000)]) {
    const path = '/api/v1/agents'
    expectRefusal(`q=${q}`, path, q === '%00' ? [400] : [200, 400], await scene.call('GET', `${path}?q=${q}`))
  }
})

/** A request as it is, past everything that `fetch` would mend. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(scene.app.url)
    const outgoing = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      text(response).then((said) => resolve({ status: response.statusCode ?? 0, text: said }), reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

verifies(
  ['spec-7.1.errors', 'contract-2.errors'],
  'malformed percent-encoding and very long paths keep the format of their surface',
  async () => {
    const long = 'x'.repeat(10_000)
    for (const [path, statuses] of [
      [`${scene.agent}/deploy/%zz`, [400, 404]],
      [`/api/v1/agents/%/deploy/chat/completions`, [400, 405]],
      [`/api/v1/agents/%E0%A4%A/deploy/sessions`, [400, 404]],
      [`${scene.sessions}/%`, [400, 404]],
      [`${scene.sessions}/${long}`, [404, 414]],
      [`/api/v1/agents/${long}/deploy/sessions`, [404, 414]],
      [`${scene.agent}/deploy/${long}`, [404, 414]],
      [`/api/v1/prompts/%zz`, [404]],
      [`/api/v1/prompts/${long}`, [404, 414]],
      ['/api/v1/%', [400, 404]],
      [`/api/${long}`, [404, 414]],
      [`${scene.agent}/playground/sessions/%c0%80/messages`, [400, 404]],
      ['/api/v1/agents/x/y/z', [404]],
      ['/api', [404]],
      ['/api/', [404]],
      ['/api/v1', [404]],
      ['/api/v2/agents', [404]],
      ['/nothing', [404]],
    ] as const) {
      const answer = await raw('GET', path)
      expectRefusal(`GET ${path.slice(0, 80)}`, path, [...statuses], answer)
    }
  },
)

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'LOCK', 'TRACE']

/** Whether a template with one name in each brace stands for that path, too. */
const isPathOf = (template: string, path: string): boolean =>
  new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path)

verifies(
  ['spec-7.1.errors', 'contract-2.errors'],
  'wrong methods are 404 or 405 in the format of their surface',
  async () => {
    const isTried = cellInTier(3)
    for (const [row, { template, path }] of endpoints.entries()) {
      const known = endpoints.filter((one) => one.template === template).map(({ method }) => method)
      for (const [column, method] of methods.entries()) {
        if (known.includes(method) || !isTried(row, column)) continue
        // `…/sessions/stream` is also a session's path, whose own methods look at it.
        const isOther = endpoints.some((one) => one.method === method && isPathOf(one.template, path))
        if (isOther) continue
        const answer = await raw(method, path)
        expectRefusal(`${method} ${path}`, path, [404, 405], answer)
      }
    }
  },
)

verifies(
  ['spec-7.1.errors', 'contract-4.idempotency', 'contract-4.resume'],
  'odd headers are 400 or ignored',
  async () => {
    const completions = `${scene.sessions}/${sessionId}/chat/completions`
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'x' }] })
    const json = { 'content-type': 'application/json', 'content-length': `${body.length}` }
    for (const [headers, statuses] of [
      [{ 'idempotency-key': 'x'.repeat(256) }, [400]],
      [{ 'idempotency-key': 'x'.repeat(9000) }, [400]],
      [{ 'idempotency-key': '\u00ff\u0080' }, [200]],
      [{ 'idempotency-key': "'; drop table messages; --" }, [200]],
      [{ 'idempotency-key': '   ' }, [200]],
      [{ 'x-stainless-retry-count': '1e999' }, [200]],
      [{ 'x-stainless-retry-count': '1, 1' }, [200]],
      [{ accept: 'nothing/known' }, [200]],
      [{ expect: 'the unexpected' }, [200, 417]],
      [{ 'content-type': 'application/json; charset=latin1' }, [200, 415]],
      [{ 'content-type': 'APPLICATION/JSON' }, [200]],
      [{ 'content-type': 'application/json;' }, [200, 415]],
      [{ authorization: '\u00ff' }, [200]],
      [{ cookie: 'a=%zz; =; ;;; greenroom_session=%' }, [200]],
    ] as const) {
      const answer = await raw('POST', completions, { ...json, ...headers }, body)
      expectRefusal(
        JSON.stringify(headers).slice(0, 80),
        completions,
        [...statuses],
        answer.status === 417 ? { status: 200, text: '' } : answer,
      )
    }
    for (const [last, status] of [
      ['9'.repeat(1000), 200],
      ['\u00b2', 400],
      ['1 2', 400],
      ['\u00bd', 400],
    ] as const) {
      const answer = await raw('GET', `${completions}/stream`, { 'last-event-id': last })
      expectRefusal(`last-event-id ${last.slice(0, 20)}`, completions, [status], answer)
    }
    for (const cookie of ['greenroom_session=%zz', '=;=;', `a=${'x'.repeat(5000)}`]) {
      expect((await raw('GET', '/api/v1/agents', { cookie })).status).toBe(200)
    }
  },
)

verifies('contract-1.body-limit', 'a body without a length is counted as it comes', async () => {
  for (const path of [scene.sessions, '/api/v1/prompts', `${scene.agent}/deploy/chat/completions`]) {
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const outgoing = request(
        `${scene.app.url}${path}`,
        { method: 'POST', headers: { 'content-type': 'application/json' }, agent: false },
        (response) => {
          text(response).then((said) => resolve({ status: response.statusCode ?? 0, text: said }), reject)
        },
      )
      outgoing.on('error', () => {}) // the server stops reading; its answer counts
      outgoing.write('{"x":"')
      for (let sent = 0; sent < 5; sent += 1) outgoing.write('x'.repeat(2 ** 20))
      outgoing.end('"}')
    })
    expectRefusal(path, path, [413], answer)
  }
  const exactly = 4 * 2 ** 20
  const fitting = `{"title":"t"${' '.repeat(exactly - 13)}}`
  expect(Buffer.byteLength(fitting)).toBe(exactly)
  expect((await scene.call('POST', scene.sessions, fitting)).status).toBe(201)
  expect((await scene.call('POST', scene.sessions, `${fitting} `)).status).toBe(413)
})
