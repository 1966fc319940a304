/** Contract section 30: an agent as an MCP server. */
import { afterAll, expect } from 'vitest'
import { bearer, DEPLOY_KEY } from '../../../features/users/access/front-door-scene.ts'
import { verifies } from '../../../verifies.ts'
import { call, nobody } from '../../scene.ts'
import { eras, openFaceScene } from './face-scene.ts'

const scene = await openFaceScene()
afterAll(scene.close)

const rpc = (method: string, params: object = {}, id = 1) => ({ jsonrpc: '2.0', id, method, params })
const askOf = (args: object) => rpc('tools/call', { name: 'ask', arguments: args })
/** The message of an answer that is a stream of one event, or JSON. */
const messageIn = (text: string) => JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text)

for (const era of eras) {
  verifies('contract-30.face-tool', `${era}: one tool, and nothing else is offered`, async () => {
    await using at = await scene.client(era, { app: scene.there })
    const { tools } = await at.client.listTools()
    const agent = (await scene.asKey('GET', `/api/v1/agents/${scene.agentId}`)).json
    expect(tools.map(({ name }) => name)).toEqual(['ask'])
    expect(tools[0]?.description).toContain(agent.name)
    expect(Object.keys(at.client.getServerCapabilities() ?? {})).toEqual(['tools'])
    expect(at.client.getServerVersion()).toMatchObject({ name: 'greenroom', title: agent.name })
  })

  verifies('contract-30.face-sessions', `${era}: a session is made, and gone on in on another instance`, async () => {
    scene.says('Hel', 'lo')
    await using at = await scene.client(era)
    const first = await at.ask({ message: 'one' }, { meta: { 'greenroom/user': 'anna' } })
    const { session_id, message_id } = first.structuredContent
    expect(first.content).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'text', text: `session_id: ${session_id}` },
    ])
    expect(first.structuredContent).toEqual({ text: 'Hello', session_id, message_id, status: 'complete' })
    await using elsewhere = await scene.client(era, { app: scene.there })
    const second = await elsewhere.ask({ message: 'two', session_id })
    expect(second.structuredContent.session_id).toBe(session_id)
    const { json } = await scene.asKey('GET', `${scene.deploy()}/sessions/${session_id}/messages`)
    expect(json.messages.map(({ content }: { content: string }) => content)).toEqual(['one', 'Hello', 'two', 'Hello'])
    expect(json.messages[1].id).toBe(message_id)
    expect((await scene.asKey('GET', `${scene.deploy()}/sessions/${session_id}`)).json.user).toBe('anna')
  })

  verifies('contract-30.face-sessions', `${era}: a reply that fails, and one that is cancelled`, async () => {
    await using at = await scene.client(era)
    scene.up.always((one) => one.error(401))
    const failed = await at.ask({ message: 'go' })
    expect([failed.isError, failed.content[0]?.text]).toEqual([true, expect.stringMatching(/^provider_auth: ./)])
    const begun = scene.byHand()
    const asked = at.ask({ message: 'go' })
    const upstream = await begun
    await upstream.text('half')
    const [running] = await scene.sql<{ id: string }[]>`select id from sessions where status = 'streaming'`
    await scene.asKey('POST', `${scene.deploy()}/sessions/${running?.id}/chat/completions/cancel`)
    expect((await asked).structuredContent.status).toBe('cancelled')
  })

  verifies('contract-30.face-refusals', `${era}: what is not taken is a sentence, and nothing is stored`, async () => {
    scene.says('ok')
    await using at = await scene.client(era)
    const before = await scene.stored()
    const all = [
      {},
      { message: 7 },
      { message: '' },
      { message: 'x', other: 1 },
      { message: 'x', session_id: 7 },
      { message: 'x', session_id: nobody },
      { message: 'x', session_id: 'no-uuid' },
    ]
    const words: (string | undefined)[] = []
    for (const args of all) {
      const { isError, content } = await at.ask(args)
      expect([args, isError, content.length]).toEqual([args, true, 1])
      words.push(content[0]?.text)
    }
    expect(words.slice(-2)).toEqual(['There is no such session.', 'There is no such session.'])
    const noUser = await at.ask({ message: 'x' }, { meta: { 'greenroom/user': 'x'.repeat(201) } })
    expect(noUser.isError).toBe(true)
    expect(await scene.stored()).toBe(before)
    await expect(at.client.callTool({ name: 'other', arguments: {} })).rejects.toThrow(/There is no tool/)
  })

  verifies('contract-30.face-progress', `${era}: the begin is told, with numbers that rise`, async () => {
    await using at = await scene.client(era)
    const begun = scene.byHand()
    const told: number[] = []
    const first = Promise.withResolvers<void>()
    const later = Promise.withResolvers<void>()
    const onProgress = (progress: number) => {
      told.push(progress)
      if (told.length === 1) first.resolve()
      else later.resolve()
    }
    const asked = at.ask({ message: 'go' }, { onProgress })
    const upstream = await begun
    await first.promise
    await upstream.text('twelve chars')
    await later.promise
    await upstream.finish()
    await asked
    expect(told.slice(0, 2)).toEqual([0, 12])
  })

  verifies(
    'contract-30.face-keys',
    `${era}: a key joins, on any instance, also where it made the session`,
    async () => {
      await using at = await scene.client(era)
      await using elsewhere = await scene.client(era, { app: scene.there })
      scene.says('once')
      const meta = { 'greenroom/idempotency-key': `${era} key`, 'greenroom/user': 'anna' }
      const first = await at.ask({ message: 'go' }, { meta })
      const before = await scene.stored()
      const again = await elsewhere.ask({ message: 'go' }, { meta })
      expect([again, await scene.stored()]).toEqual([first, before])
      expect((await at.ask({ message: 'other' }, { meta })).content[0]?.text).toContain('another body')
      const ben = await at.ask({ message: 'go' }, { meta: { ...meta, 'greenroom/user': 'ben' } })
      expect(ben.structuredContent.session_id).not.toBe(first.structuredContent.session_id)
    },
  )
}

verifies('contract-30.face-keys', 'the header Idempotency-Key joins as well', async () => {
  scene.says('once')
  const ask = async () =>
    messageIn((await scene.message(askOf({ message: 'go' }), { headers: { 'idempotency-key': 'of the header' } })).text)
      .result.structuredContent
  const first = await ask()
  const before = await scene.stored()
  expect([await ask(), await scene.stored()]).toEqual([first, before])
})

verifies(
  'contract-30.face-refusals',
  'a running session refuses, and broken messages are protocol errors',
  async () => {
    await using at = await scene.client('modern')
    const id = await scene.session(null)
    const begun = scene.byHand()
    const asked = at.ask({ message: 'go', session_id: id })
    const upstream = await begun
    const busy = await at.ask({ message: 'more', session_id: id })
    expect([busy.isError, busy.content[0]?.text]).toEqual([true, 'A reply is running in this session.'])
    await upstream.finish()
    await asked
    for (const body of ['{"jsonrpc"', '', '[']) {
      const { status, json } = await scene.message(body)
      expect([body, status, json.error?.code ?? json]).toEqual([body, 400, -32700])
    }
    expect(messageIn((await scene.message(rpc('resources/list'))).text).error.code).toBe(-32601)
  },
)

verifies('contract-30.face-tool', 'GET and DELETE are 405, and an unknown agent is 404', async () => {
  for (const method of ['GET', 'DELETE']) {
    const { status, headers } = await scene.asKey(method, scene.path)
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  }
  expect((await scene.asKey('POST', `${scene.deploy(nobody)}/mcp`, askOf({ message: 'x' }))).status).toBe(404)
})

verifies('contract-30.face-access', 'without a credential it is 401 before anything is read', async () => {
  const { status, json } = await call(`${scene.here.url}${scene.path}`, 'POST', '{"broken')
  expect([status, json.error.code]).toEqual([401, 'invalid_api_key'])
})

verifies('contract-30.face-access', 'a client secret asks in sessions of its user alone', async () => {
  scene.says('hi')
  const ben = await scene.session('ben')
  const own = await scene.session('anna')
  await using anna = await scene.client('modern', { token: await scene.secret('anna') })
  const made = (await anna.ask({ message: 'x' })).structuredContent.session_id
  expect((await scene.asKey('GET', `${scene.deploy()}/sessions/${made}`)).json.user).toBe('anna')
  const texts = [(await anna.ask({ message: 'x', session_id: ben })).content[0]?.text]
  await using bound = await scene.client('modern', { token: await scene.secret('anna', { session_id: own }) })
  expect((await bound.ask({ message: 'x', session_id: own })).structuredContent.session_id).toBe(own)
  texts.push((await bound.ask({ message: 'x', session_id: made })).content[0]?.text)
  expect(texts).toEqual(['There is no such session.', 'There is no such session.'])
  expect((await bound.ask({ message: 'x' })).isError).toBe(true)
  expect((await anna.ask({ message: 'x' }, { meta: { 'greenroom/user': 'ben' } })).isError).toBe(true)
})

verifies('contract-30.face-access', 'a foreign origin is refused, a listed one gets its headers', async () => {
  const origin = 'https://listed.example'
  await scene.asKey('PUT', `/api/v1/agents/${scene.agentId}`, { allowedOrigins: [origin] })
  const from = (headers: Record<string, string>, token = DEPLOY_KEY) =>
    scene.message(rpc('tools/list'), { token, headers })
  const foreign = await from({ origin: 'https://foreign.example' })
  expect([foreign.status, foreign.json]).toEqual([403, { error: expect.any(String) }])
  const listed = await from({ origin }, await scene.secret('anna'))
  expect([listed.status, listed.headers.get('access-control-allow-origin')]).toEqual([200, origin])
  const asked = await fetch(`${scene.here.url}${scene.path}`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', ...bearer('') },
  })
  expect(asked.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version')
})
