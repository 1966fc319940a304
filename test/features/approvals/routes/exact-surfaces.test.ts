/** Every surface that shows a call, its question, the answer or the result shows the digits (contract section 35). */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { asks, openToolScene } from '../../../http/tool-scene.ts'
import { uiScene } from '../../../http/ui-scene.ts'
import { DIGITS, startAskingServer } from '../../../support/network/asking-server.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openToolScene()
const server = await startAskingServer()
afterAll(async () => {
  await scene.close()
  await server[Symbol.asyncDispose]()
})
const ui = uiScene(scene)
const mcpServerId = await scene.createMcpServer({ name: 'asks', url: server.url })
await scene.choose({ mcpServers: [{ mcpServerId, toolNames: ['*'] }] })
const tools = async () => (await scene.call('GET', `/api/v1/mcp-servers/${mcpServerId}/tools`)).text

const user = 'ann'
const read = async (path: string) => (await scene.call('GET', path)).text
const deploy = `${scene.agent}/deploy`
const playground = `${scene.agent}/playground`

/** A session in which the model has called a tool with digits, whose server asks for digits. */
async function waiting(): Promise<string> {
  await expect.poll(tools).toContain('"exact"')
  const { json } = await scene.call('POST', scene.sessions, { user })
  scene.up.next(asks('Well. ', { name: 'asks__exact', arguments: `{"id":${DIGITS}}`, id: 'c1' }))
  await scene.send(json.id, 'Find the digits!')
  return json.id
}

/** Reads a live list from a change on until it has said `text`. */
async function said(path: string, after: string, text: string): Promise<string> {
  const stream = await openSse(scene.app.url + path, undefined, { 'last-event-id': after })
  while (!stream.raw().includes(text)) if ((await stream.next()) === null) throw new Error(stream.raw())
  stream.leave()
  return stream.raw()
}

/** The numbers of a text that begin as the digits and the maximum do, without those that stand in quotation marks. */
const numbers = (text: string): Set<string> => new Set(text.match(/(?<=:\s?)(?:19170436|92233720)[\d.e+]*/g))

verifies('contract-35.digits', 'a question: each list and each record, and the streams of front ends', async () => {
  const before = (await scene.call('GET', scene.sessions)).headers.get('x-last-event-id') ?? ''
  const id = await waiting()
  const [aiSdk, agUi] = [randomUUID(), randomUUID()]
  const stream = async (open: () => ReturnType<typeof ui.chat>) => {
    scene.up.next(asks('', { name: 'asks__exact', arguments: '{}', id: 'c1' }))
    const opened = await open()
    await opened.rest()
    return opened.raw()
  }
  const search = () => read(`${scene.sessions}/search?q=digits`)
  await expect.poll(search).toContain(id)
  const shown = {
    session: await read(`${scene.sessions}/${id}`),
    sessions: await read(`${scene.sessions}?user=${user}`),
    changed: (await scene.call('PATCH', `${scene.sessions}/${id}`, { title: 'Digits' })).text,
    archived: (await scene.call('PATCH', `${scene.sessions}/${id}`, { archived: false })).text,
    found: await search(),
    playground: await read(`${playground}/sessions/${id}`),
    playgroundList: await read(`${playground}/sessions`),
    live: await said(`${scene.sessions}/stream`, before, 'Which one?'),
    export: await read(`${deploy}/users/${user}/export`),
    aiSdkStream: await stream(() => ui.chat(aiSdk, 'Hello')),
    aiSdk: await read(`${ui.aiSdk}/${aiSdk}/messages`),
    agUi: await stream(() => ui.run(agUi, 'r1', 'Hello')),
  }
  const wanted = new Set([DIGITS, '9223372036854775807'])
  expect(Object.entries(shown).map(([surface, text]) => [surface, numbers(text)])).toEqual(
    Object.keys(shown).map((surface) => [surface, wanted]),
  )
})

verifies('contract-35.digits', 'the answer and the result: server, model, and all that is read later', async () => {
  const id = await waiting()
  scene.says(['Done.'])
  const decisions = [{ call_id: 'c1', decision: 'answer', content: { id: JSON.rawJSON(DIGITS) } }]
  const answered = await scene.call('POST', `${scene.sessions}/${id}/actions`, { decisions, include_actions: true })
  expect(answered.json.choices[0].message.content).toBe('Done.')
  expect(server.bodies.at(-1)).toContain(`"content":{"id":${DIGITS}}`)
  expect(server.bodies.at(-1)).toContain(`"arguments":{"id":${DIGITS}}`)
  const { messages } = scene.up.calls.at(-1)?.body ?? {}
  expect(messages.at(-1).content).toContain(`{"id":${DIGITS}}`)
  const replies = (await scene.call('GET', `${scene.sessions}/${id}/messages`)).json.messages
  const replyId = replies.at(-1).id
  const shown = {
    playground: await read(`${playground}/sessions/${id}/messages`),
    aiSdk: await read(`${ui.aiSdk}/${id}/messages`),
    requests: await read(`/api/v1/debug/replies/${replyId}/requests`),
  }
  const texts = Object.entries(shown).map(([surface, text]) => [surface, numbers(text.replaceAll('\\', ''))])
  expect(texts).toEqual(Object.keys(shown).map((surface) => [surface, new Set([DIGITS])]))
})
