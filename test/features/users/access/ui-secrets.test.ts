/** Contract sections 11 and 12: what a client secret opens of the UI clients' endpoints. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { openScene, type Scene } from '../../../http/scene.ts'
import { uiScene } from '../../../http/ui-scene.ts'
import { openSse } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(scene.close)

/** The endpoints as a page with a secret of this user asks them. */
async function pageOf(user: string, session_id?: string) {
  const made = await scene.call('POST', `${scene.agent}/deploy/client_secrets`, {
    user,
    ...(session_id && { session_id }),
  })
  expect(made.status).toBe(201)
  const authorization = `Bearer ${made.json.value}`
  const call: Scene['call'] = (method, path, body, headers = {}) =>
    scene.call(method, path, body, { authorization, ...headers })
  const ui = uiScene({ ...scene, call })
  const say = (id: string, text: string) => call('POST', ui.aiSdk, ui.chatBody(id, text))
  const run = (id: string, runId: string, text: string) => call('POST', ui.agUi, ui.runBody(id, runId, text))
  const follow = (id: string) => call('GET', `${ui.aiSdk}/${id}/stream`)
  return { ...ui, authorization, say, run, follow }
}

verifies(
  ['contract-11.reach', 'contract-12.ai-sdk-input', 'contract-12.ag-ui-input'],
  'a session that a secret makes is its user’s; to others it is as if it were not',
  async () => {
    scene.says(['hello'])
    const [anna, ben] = [await pageOf('anna'), await pageOf('ben')]
    const [chat, thread] = [randomUUID(), randomUUID()]
    expect((await anna.say(chat, 'go')).status).toBe(200)
    expect((await anna.run(thread, 'r', 'go')).status).toBe(200)
    for (const id of [chat, thread]) {
      expect((await scene.call('GET', `${scene.sessions}/${id}`)).json.user).toBe('anna')
      expect(await anna.uiMessages(id)).toHaveLength(2)
      expect(await ben.uiMessages(id)).toEqual([])
      expect((await ben.say(id, 'me too')).status).toBe(404)
      expect((await ben.run(id, 'r2', 'me too')).status).toBe(404)
    }
    const nobodys = await scene.newSession()
    expect((await anna.say(nobodys, 'go')).status).toBe(404)

    const next = scene.byHand()
    const running = await scene.stream(chat, 'more')
    const up = await next
    expect((await ben.follow(chat)).status).toBe(204)
    expect((await ben.stop(chat)).status).toBe(204)
    expect(up.abandoned).toBe(false)
    const url = `${scene.app.url}${anna.aiSdk}/${chat}/stream`
    const followed = await openSse(url, undefined, { authorization: anna.authorization })
    await up.text('still there')
    await up.finish()
    await running.rest()
    await followed.rest()
    expect([followed.status, followed.raw()]).toEqual([200, expect.stringContaining('still there')])
    expect((await anna.uiMessages(chat)).at(-1)).toMatchObject({ metadata: { status: 'complete' } })
  },
)

verifies(
  ['contract-11.reach', 'contract-12.ai-sdk-input'],
  'a secret for one session opens that one alone, and makes none',
  async () => {
    scene.says(['hello'])
    const all = await pageOf('cleo')
    const id = randomUUID()
    await all.say(id, 'go')
    const one = await pageOf('cleo', id)
    const other = randomUUID()
    expect((await one.say(id, 'go on')).status).toBe(200)
    expect((await one.say(other, 'go')).status).toBe(404)
    expect((await one.run(other, 'r', 'go')).status).toBe(404)
    await all.say(other, 'go')
    expect([(await one.follow(other)).status, await one.uiMessages(other)]).toEqual([204, []])
    await scene.call('DELETE', `${scene.sessions}/${id}`)
    expect((await one.say(id, 'again')).status).toBe(404)
    expect((await scene.call('GET', `${scene.sessions}/${id}`)).status).toBe(404)
  },
)

verifies(
  ['contract-11.delete-user', 'contract-12.ai-sdk-input'],
  'a revoked secret makes no session by its message, on an instance that has not heard of it either',
  async () => {
    scene.says(['hello'])
    const page = await pageOf('dora')
    const id = randomUUID()
    // As another instance would: this one learns of it by its next poll, or from the admission.
    await scene.app.sql`select revoke_user(${scene.agentId}, 'dora')`
    const { status, json } = await page.say(id, 'go')
    expect([status, json.error.code]).toEqual([401, 'token_revoked'])
    expect((await scene.call('GET', `${scene.sessions}/${id}`)).status).toBe(404)
  },
)

verifies('contract-12.ai-sdk-resume', 'the stream opens by access_token too, as for an EventSource', async () => {
  const page = await pageOf('ellen')
  const id = randomUUID()
  const next = scene.byHand()
  const said = page.say(id, 'go')
  const up = await next
  const token = page.authorization.replace('Bearer ', '')
  const { status } = await scene.call('GET', `${page.aiSdk}/${randomUUID()}/stream?access_token=${token}`)
  expect(status).toBe(204)
  const followed = await openSse(`${scene.app.url}${page.aiSdk}/${id}/stream?access_token=${token}`)
  await up.text('hi')
  await up.finish()
  await followed.rest()
  expect(followed.raw()).toBe((await said).text)
})
