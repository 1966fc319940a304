/** Agents among the tools of an agent, as configuration (contract section 30). */
import { afterAll, expect } from 'vitest'
import { nobody } from '../../http/scene.ts'
import { verifies } from '../../verifies.ts'
import { openTreeScene, says } from './tree-scene.ts'

const scene = await openTreeScene()
afterAll(scene.close)

const chosen = async (id: string) => (await scene.call('GET', `/api/v1/agents/${id}/tools`)).json.agentTools
const choice = (agentId: string) => ({ agentId, name: null, description: null })

verifies('contract-30.agent-tools', 'absent keeps, [] clears, and what is wrong changes nothing', async () => {
  const [asked, other, desk] = await Promise.all(
    ['Asked agent', 'other', 'chooser'].map((name) => scene.newAgent(name)),
  )
  if (!asked || !other || !desk) throw new Error('no agents')
  const { json, text } = await scene.toolsOf(desk, [{ agentId: asked.toUpperCase() }, { agentId: other, name: 'pay' }])
  expect(json.agentTools, text).toEqual([choice(asked), { agentId: other, name: 'pay', description: null }])
  await scene.call('PUT', `/api/v1/agents/${desk}/tools`, { builtInToolIds: [] })
  expect(await chosen(desk)).toHaveLength(2)
  for (const [wrong, field] of [
    [{ agentId: nobody }, 'agentTools'],
    [{ agentId: 'x' }, 'agentTools'],
    [{ agentId: asked, name: '' }, 'agentTools.0.name'],
    [{ agentId: asked, description: 'x'.repeat(1001) }, 'agentTools.0.description'],
    [{ agentId: asked, more: 1 }, 'agentTools.0'],
    [{}, 'agentTools.0'],
  ] as const) {
    const refused = await scene.toolsOf(desk, [wrong])
    expect([refused.status, refused.json.message]).toEqual([400, expect.stringContaining(field)])
  }
  expect((await scene.toolsOf(desk, [choice(asked), choice(asked)])).status).toBe(400)
  expect((await scene.toolsOf(desk, Array(33).fill(choice(asked)))).status).toBe(400)
  expect(await chosen(desk)).toHaveLength(2)
  expect((await scene.toolsOf(desk, [])).json.agentTools).toEqual([])
})

verifies('contract-30.agent-tools', 'the model sees a tool by the agent’s name, with a message', async () => {
  const asked = await scene.newAgent('Ask Me')
  const desk = await scene.newAgent('seer')
  await scene.toolsOf(desk, [{ agentId: asked }])
  const tools = Promise.withResolvers<unknown[]>()
  scene.plays('seer', (call) => {
    tools.resolve(call.body.tools)
    return says('Hi.')(call)
  })
  await scene.ask(desk, 'Hi')
  expect(await tools.promise).toEqual([
    {
      type: 'function',
      function: {
        name: expect.stringMatching(/^Ask_Me_[0-9a-f]{6}$/),
        description: 'Asks the agent Ask Me and returns its answer.',
        parameters: {
          type: 'object',
          properties: { message: { type: 'string' } },
          required: ['message'],
          additionalProperties: false,
        },
      },
    },
  ])
})

verifies(
  'contract-30.agent-tools',
  'versions hold it only where there is one, and a deleted agent leaves',
  async () => {
    const asked = await scene.newAgent('leaving')
    const desk = await scene.newAgent('versioned')
    const live = async () => {
      const [row] = await scene.app.sql<{ tools: object }[]>`
      select config -> 'tools' as tools from agent_versions where agent_id = ${desk} order by number desc limit 1`
      return row?.tools
    }
    expect(await live()).not.toHaveProperty('agentTools')
    await scene.toolsOf(desk, [{ agentId: asked, description: 'Leaves.' }], { approvals: [{ agentId: asked }] })
    expect(await live()).toMatchObject({ agentTools: [{ agentId: asked, name: null, description: 'Leaves.' }] })
    const shown = await scene.call('GET', `/api/v1/agents/${desk}/versions/1`)
    expect(shown.json.tools).toMatchObject({ agentTools: [] })
    expect((await scene.call('DELETE', `/api/v1/agents/${asked}`)).status).toBe(204)
    expect(await chosen(desk)).toEqual([])
    expect(await live()).not.toHaveProperty('agentTools')
  },
)

verifies('contract-30.agent-tools', 'exports and imports name agents, also in approvals', async () => {
  const asked = await scene.newAgent('named agent')
  const desk = await scene.newAgent('exporting')
  await scene.toolsOf(desk, [{ agentId: asked, name: 'ask' }], { approvals: [{ agentId: asked }] })
  const { json: whole } = await scene.call('GET', '/api/v1/export')
  const own = whole.agentTools.find(({ agent }: { agent: string }) => agent === 'exporting')
  expect(own).toMatchObject({
    agentTools: [{ agent: 'named agent', name: 'ask', description: null }],
    approvals: [{ agent: 'named agent' }],
  })
  await scene.toolsOf(desk, [], { approvals: [] })
  const imported = await scene.call('POST', '/api/v1/import', { version: 1, agentTools: [own] })
  expect(imported.json, imported.text).toMatchObject({ updated: 1, skipped: [] })
  expect(await chosen(desk)).toEqual([{ agentId: asked, name: 'ask', description: null }])
  expect((await scene.call('GET', `/api/v1/agents/${desk}/tools`)).json.approvals).toEqual([{ agentId: asked }])
})

verifies('contract-30.ways', 'a way back, or one of four calls, is refused by its names', async () => {
  const [a, b, c, d, e] = await Promise.all(['A', 'B', 'C', 'D', 'E'].map((name) => scene.newAgent(name)))
  if (!a || !b || !c || !d || !e) throw new Error('no agents')
  const refusal = async (from: string, to: string) => {
    const { status, json } = await scene.toolsOf(from, [{ agentId: to }])
    return status === 400 ? json.message : status
  }
  expect(await refusal(a, a)).toBe('agentTools: A → A')
  expect(await refusal(a, b)).toBe(200)
  expect(await refusal(b, a)).toContain('B → A → B')
  expect(await refusal(d, e)).toBe(200)
  expect(await refusal(c, d)).toBe(200)
  expect(await refusal(b, c)).toBe('agentTools: A → B → C → D → E')
  expect(await refusal(b, d)).toBe(200)
  const drafted = await scene.call('PUT', `/api/v1/agents/${e}/tools?draft=true`, { agentTools: [{ agentId: a }] })
  expect([drafted.status, drafted.json.message]).toEqual([400, expect.stringContaining('E → A')])
  const chat = await scene.call('POST', `/api/v1/agents/${e}/playground/chat`, {
    message: 'x',
    agentTools: [{ agentId: a }],
  })
  expect(chat.status).toBe(400)
  const both = await Promise.all([refusal(c, e), refusal(e, c)])
  expect(both.filter((one) => one === 200)).toHaveLength(1)
})

verifies('contract-30.ways', 'a publication and an import are refused as well, and change nothing', async () => {
  const [a = '', b = ''] = await Promise.all(['Asker', 'Asked'].map((name) => scene.newAgent(name)))
  const path = `/api/v1/agents/${a}`
  const drafted = await scene.call('PUT', `${path}/tools?draft=true`, { agentTools: [{ agentId: b }] })
  expect(drafted.status, drafted.text).toBe(200)
  await scene.toolsOf(a, [{ agentId: b }])
  await scene.toolsOf(a, [])
  expect((await scene.toolsOf(b, [{ agentId: a }])).status).toBe(200)
  const { versions } = (await scene.call('GET', `${path}/versions`)).json
  const asking = versions.find(({ number }: { number: number }) => number === versions[0].number - 1)
  for (const where of ['publish', `versions/${asking.number}/publish`]) {
    const refused = await scene.call('POST', `${path}/${where}`, {})
    expect([where, refused.status, refused.json.message]).toEqual([
      where,
      400,
      expect.stringContaining('Asker → Asked → Asker'),
    ])
  }
  const imported = await scene.call('POST', '/api/v1/import', {
    version: 1,
    agentTools: [{ agent: 'Asker', httpTools: [], mcpServers: [], builtInTools: [], agentTools: [{ agent: 'Asked' }] }],
  })
  expect(JSON.stringify(imported.json)).toContain('Asker → Asked → Asker')
  expect(await chosen(a)).toEqual([])
})
