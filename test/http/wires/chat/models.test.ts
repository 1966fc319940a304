/** Agents as the models of a chat-completions client. */
import OpenAI from 'openai'
import { afterAll, expect } from 'vitest'
import { createAgent } from '../../../support/app.ts'
import { refusedRequest } from '../../../support/network/refused-request.ts'
import { verifies } from '../../../verifies.ts'
import { call, nobody, openScene } from '../../scene.ts'

const key = 'the-deploy-key'
const scene = await openScene({ settings: { PUBLIC_API_KEY: key } })
afterAll(scene.close)
scene.says(['Fine.'])

const authorized = { authorization: `Bearer ${key}` }
const openai = `${scene.app.url}/api/v1/openai`
const ask = (body: object) =>
  call(`${openai}/chat/completions`, 'POST', { messages: [{ role: 'user', content: 'x' }], ...body }, authorized)
const rename = (id: string, name: string) => scene.app.sql`update agents set name = ${name} where id = ${id}`

verifies('contract-11.models', 'an agent lists its model', async () => {
  const { status, json } = await scene.call('GET', `${scene.agent}/deploy/models`, undefined, authorized)
  const created = expect.any(Number)
  expect([status, json]).toEqual([
    200,
    { object: 'list', data: [{ id: 'test-model', object: 'model', created, owned_by: 'greenroom' }] },
  ])
  expect(Math.abs(json.data[0].created - Date.now() / 1000)).toBeLessThan(3600)
  expect(Number.isInteger(json.data[0].created)).toBe(true)
  for (const id of [nobody, 'not-a-uuid']) {
    const unknown = await scene.call('GET', `/api/v1/agents/${id}/deploy/models`, undefined, authorized)
    expect([unknown.status, unknown.json]).toEqual([404, { error: expect.any(String) }])
  }
})

verifies('contract-11.models', 'the official client lists agents, and asks the one that it names', async () => {
  const { agentId } = await createAgent(scene.app)
  await rename(agentId, 'Demo one')
  const client = new OpenAI({ baseURL: openai, apiKey: key, maxRetries: 0 })
  const listed = []
  for await (const model of client.models.list()) listed.push(model)
  expect(listed).toEqual([
    { id: scene.agentId, name: 'Agent', object: 'model', created: expect.any(Number), owned_by: 'greenroom' },
    { id: agentId, name: 'Demo one', object: 'model', created: expect.any(Number), owned_by: 'greenroom' },
  ])
  const messages = [{ role: 'user' as const, content: '/echo from the demo' }]
  const answer = await client.chat.completions.create({ model: 'Demo one', messages })
  expect(answer.choices[0]?.message.content).toBe('from the demo')
  let streamed = ''
  for await (const chunk of await client.chat.completions.create({ model: scene.agentId, messages, stream: true })) {
    streamed += chunk.choices[0]?.delta.content ?? ''
  }
  expect(streamed).toBe('Fine.')
})

verifies('contract-11.models', 'an id wins over a name; a name that several have, or none, is refused', async () => {
  const { agentId: other } = await createAgent(scene.app)
  const { agentId: another } = await createAgent(scene.app)
  await rename(other, scene.agentId)
  expect((await ask({ model: scene.agentId })).json.choices[0].message.content).toBe('Fine.')
  expect((await ask({ model: scene.agentId.toUpperCase() })).json.choices[0].message.content).toBe('Fine.')
  await rename(other, 'Twice')
  await rename(another, 'Twice')
  expect((await ask({ model: 'Twice' })).json).toEqual(refusedRequest('several', 'model'))
  for (const [body, status] of [
    [{ model: 'Twice' }, 400],
    [{}, 400],
    [{ model: null }, 400],
    [{ model: 5 }, 400],
    [{ model: 'twice' }, 404],
    [{ model: 'Twic' }, 404],
    [{ model: nobody }, 404],
    [{ model: '' }, 404],
    [{ model: scene.agentId, messages: [] }, 400],
  ] as const) {
    const answer = await ask(body)
    expect([body, answer.status, answer.json]).toEqual([
      body,
      status,
      status === 400
        ? refusedRequest(/model|messages/)
        : { error: expect.stringMatching(/^model: .* GET \/api\/v1\/openai\/models lists the agents$/) },
    ])
  }
})

verifies('contract-11.models', 'both belong to the deploy scope: the key first, then its error format', async () => {
  const unauthorized = {
    error: { message: expect.any(String), type: 'invalid_request_error', code: 'invalid_api_key' },
  }
  for (const [method, path] of [
    ['GET', `${openai}/models`],
    ['POST', `${openai}/chat/completions`],
    ['GET', `${scene.app.url}${scene.agent}/deploy/models`],
    ['GET', openai],
    ['GET', `${openai}/unknown`],
    ['DELETE', `${openai}/models`],
  ] as const) {
    const without = await call(path, method)
    expect([path, without.status, without.json]).toEqual([path, 401, unauthorized])
  }
  const unknown = await call(`${openai}/unknown`, 'GET', undefined, authorized)
  expect([unknown.status, unknown.json]).toEqual([404, { error: expect.any(String) }])
})

verifies('contract-11.models', 'a client secret opens none of them', async () => {
  const path = `${scene.agent}/deploy/client_secrets`
  const { json: secret } = await scene.call('POST', path, { user: 'ann' }, authorized)
  const headers = { authorization: `Bearer ${secret.value}` }
  expect((await call(`${openai}/models`, 'GET', undefined, headers)).status).toBe(403)
  const body = { model: scene.agentId, messages: [{ role: 'user', content: 'x' }] }
  expect((await call(`${openai}/chat/completions`, 'POST', body, headers)).status).toBe(403)
  expect((await scene.call('GET', `${scene.agent}/deploy/models`, undefined, headers)).status).toBe(403)
})
