/** Contract section 35: how large the tools and schemas of a request may be, on every surface. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openScene, type Scene } from '../../scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene({})
  scene.up.always(async (call) => {
    await call.text('Fine.')
    await call.finish()
  })
})
afterAll(() => scene.close())

const large = 'x'.repeat(128 * 1024)
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, { type: 'string' }]))
const schemas: Record<string, object> = {
  'more than 128 KiB': { properties: { a: { type: 'string', description: large } } },
  'more than 5,000 properties': {
    properties: { a: { properties: { ...many(2500) } }, b: { anyOf: [{ properties: many(2500) }] } },
  },
}
const fitting = { properties: many(4000) }
/** Each fits by itself. */
const together = Array.from({ length: 9 }, () => ({ properties: { a: { description: large.slice(1000) } } }))

type Schemas = readonly object[]
const functions = (of: Schemas) => of.map((parameters, n) => ({ name: `t${n}`, description: '', parameters }))
const chatTools = (of: Schemas) => functions(of).map((one) => ({ type: 'function', function: one }))
const message = { messages: [{ role: 'user', content: 'Hi' }] }
const format = (schema: object) => ({ type: 'json_schema', json_schema: { name: 'f', schema } })
const post = (path: string, body: object) => scene.call('POST', `${scene.agent}/deploy${path}`, body)
const uiMessages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]

/** Sends these as the schemas of tools; and the name of the first one's field. */
const surfaces: Record<string, { send(of: Schemas): ReturnType<typeof post>; field: string }> = {
  stateless: {
    send: (of) => post('/chat/completions', { ...message, tools: chatTools(of) }),
    field: 'tools.0.function.parameters',
  },
  session: {
    send: async (of) =>
      post(`/sessions/${await scene.newSession()}/chat/completions`, { ...message, tools: chatTools(of) }),
    field: 'tools.0.function.parameters',
  },
  'ai sdk': {
    send: (of) =>
      post('/ai-sdk', { id: randomUUID(), trigger: 'submit-message', messages: uiMessages, tools: chatTools(of) }),
    field: 'tools.0.function.parameters',
  },
  'ag-ui': {
    send: (of) =>
      post('/ag-ui', {
        ...{ threadId: randomUUID(), runId: randomUUID(), context: [], state: {}, forwardedProps: {} },
        messages: [{ id: 'm', role: 'user', content: 'Hi' }],
        tools: functions(of),
      }),
    field: 'tools.0.parameters',
  },
  responses: {
    send: (of) =>
      post('/responses', { input: 'Hi', tools: functions(of).map((one) => ({ type: 'function', ...one })) }),
    field: 'tools.0.parameters',
  },
  'responses, not stored': {
    send: (of) =>
      post('/responses', {
        ...{ input: 'Hi', store: false },
        tools: functions(of).map((one) => ({ type: 'function', ...one })),
      }),
    field: 'tools.0.parameters',
  },
}
const errorOf = ({ error }: { error?: string | { message: string } }): string =>
  typeof error === 'string' ? error : (error?.message ?? '')

verifies('contract-35.schema-size', 'larger ones are 400 that names the field, on every surface', async () => {
  for (const [name, { send, field }] of Object.entries(surfaces)) {
    for (const [fault, schema] of Object.entries(schemas)) {
      const { status, json } = await send([schema])
      expect([name, fault, status, errorOf(json).startsWith(`${field}: `)]).toEqual([name, fault, 400, true])
    }
    const all = await send(together)
    expect([name, all.status, errorOf(all.json)]).toEqual([name, 400, expect.stringMatching(/^tools: .*1 MiB/)])
    expect([name, (await send([fitting])).status]).toEqual([name, 200])
  }
})

verifies('contract-35.schema-size', 'the schema of the answer counts, alone and with the tools', async () => {
  const session = await scene.newSession()
  const ways = [
    {
      send: (schema: object, tools: Schemas) =>
        post('/chat/completions', { ...message, response_format: format(schema), tools: chatTools(tools) }),
      field: 'response_format.json_schema.schema',
    },
    {
      send: (schema: object, tools: Schemas) =>
        post(`/sessions/${session}/chat/completions`, {
          ...message,
          response_format: format(schema),
          tools: chatTools(tools),
        }),
      field: 'response_format.json_schema.schema',
    },
    {
      send: (schema: object, tools: Schemas) =>
        post('/responses', {
          ...{ input: 'Hi', text: { format: { type: 'json_schema', name: 'f', schema } } },
          tools: functions(tools).map((one) => ({ type: 'function', ...one })),
        }),
      field: 'text.format.schema',
    },
  ]
  for (const { send, field } of ways) {
    for (const schema of Object.values(schemas)) {
      const { status, json } = await send(schema, [])
      expect([field, status, errorOf(json).startsWith(`${field}: `)]).toEqual([field, 400, true])
    }
    const all = await send(together[0] ?? {}, together.slice(1))
    expect([field, all.status, errorOf(all.json)]).toEqual([field, 400, expect.stringMatching(/^tools: .*1 MiB/)])
  }
})
