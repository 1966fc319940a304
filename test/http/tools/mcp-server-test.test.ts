/** A tool of an MCP server, called once by hand: as a model would be answered, and outside of any session. */
import { afterAll, expect, test } from 'vitest'
import { startMcpServer } from '../../support/network/mcp-servers.ts'
import { openToolScene } from '../tool-scene.ts'

const scene = await openToolScene()
const server = await startMcpServer('streamable_http, new era')
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await scene.close()
})

const path = (id: string) => `/api/v1/mcp-servers/${id}/test`
const nobody = '11111111-1111-4111-8111-111111111111'

test('it tells what a model would be told: the result, or what went wrong', async () => {
  const id = await scene.createMcpServer({ name: 'bench', url: server.url })
  const run = async (tool: string, args?: object) =>
    (await scene.call('POST', path(id), { tool, ...(args && { arguments: args }) })).json
  const latencyMs = expect.any(Number)
  expect(await run('echo', { text: 'la la' })).toEqual({ ok: true, content: 'la la', latencyMs })
  expect(server.calls).toEqual(['echo'])
  expect(await run('fail')).toMatchObject({ ok: false, content: 'It did not work.' })
})

test('a server that is away, or needs a value of a session, is an answer too; an unknown one is 404', async () => {
  const away = await scene.createMcpServer({ name: 'away', url: 'http://127.0.0.1:9/mcp' })
  const called = await scene.call('POST', path(away), { tool: 'echo', arguments: {} })
  expect([called.status, called.json.ok]).toEqual([200, false])
  const headers = { 'X-User': '{{session.user}}' }
  const personal = await scene.createMcpServer({ name: 'personal', url: server.url, headers })
  expect((await scene.call('POST', path(personal), { tool: 'echo' })).json).toMatchObject({
    ok: false,
    content: expect.stringContaining('session.user'),
  })
  expect((await scene.call('POST', path(nobody), { tool: 'echo' })).status).toBe(404)
  expect((await scene.call('POST', path(away), {})).json.message).toMatch(/^tool: /)
})
