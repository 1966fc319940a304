/** Contract section 13: parts of earlier messages, sent again by the path at which they are read. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { openRepeatScene } from '../../../http/repeat-scene.ts'
import { rest, uiScene } from '../../../http/ui-scene.ts'
import { verifies } from '../../../verifies.ts'
import { openFrontDoor } from '../../users/access/front-door-scene.ts'
import { dataUrl, file, image, pdf, png, text } from './parts-scene.ts'

const { scene, untilFollowed } = await openRepeatScene({ settings: {} })
const ui = uiScene(scene)
const door = await openFrontDoor({ instances: 1 })
afterAll(async () => {
  await scene.close()
  await door.close()
})
scene.says(['ok'])
door.says('ok')

const completions = (id: string) => `${scene.sessions}/${id}/chat/completions`
const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const picture = (url: string) => ({ type: 'image_url', image_url: { url } })
const document = (path: string, filename?: string) => ({ type: 'file', file: { file_data: path, filename } })
const sentMessages = () => scene.up.calls.at(-1)?.body.messages
const pictureSent = picture(dataUrl('image/png', png()))
const documentSent = (filename: string) => document(dataUrl('application/pdf', pdf()), filename)
const bytesStored = async () => (await scene.app.sql`select 1 from part_contents`).length

/** A session with a picture and a document, and the paths of both. */
async function attached(): Promise<{ id: string; paths: [string, string] }> {
  const id = await scene.newSession()
  await scene.call('POST', completions(id), user(image(), file(pdf(), 'application/pdf', 'a.pdf'), text('first')))
  const [{ parts }] = await scene.messages(id)
  return { id, paths: [parts[0].url, parts[1].url] }
}

verifies(['contract-13.parts', 'contract-13.part-storage'], 'a session’s message takes them, stored once', async () => {
  const { id, paths } = await attached()
  const { status } = await scene.call('POST', completions(id), user(picture(paths[0]), document(paths[1]), text('b')))
  expect([status, sentMessages().at(-1).content]).toEqual([200, [pictureSent, documentSent('a.pdf'), text('b')]])
  const other = await scene.newSession()
  await scene.call('POST', completions(other), user(document(paths[1], 'b.pdf')))
  expect(await bytesStored()).toBe(2)
  await scene.call('DELETE', `${scene.sessions}/${id}`)
  const [{ parts }] = await scene.messages(other)
  expect(parts).toMatchObject([{ filename: 'b.pdf', media_type: 'application/pdf', size: pdf().length }])
  expect(await (await fetch(`${scene.app.url}${parts[0].url}`)).text()).toBe(pdf().toString())
})

verifies('contract-13.parts', 'stateless requests and the playground take them', async () => {
  const { id, paths } = await attached()
  const earlier = [
    { role: 'user', content: [picture(paths[0])] },
    { role: 'assistant', content: 'ok' },
  ]
  await scene.stateless([...earlier, { role: 'user', content: [document(paths[1])] }])
  expect(sentMessages().map(({ content }: { content: unknown }) => content)).toEqual([
    [pictureSent],
    'ok',
    [documentSent('a.pdf')],
  ])
  const { json } = await scene.call('GET', `${scene.agent}/playground/sessions/${id}/messages`)
  const message = [picture(json.messages[0].parts[0].url), text('again')]
  expect((await scene.call('POST', `${scene.agent}/playground/chat`, { sessionId: id, message })).status).toBe(200)
  expect(sentMessages().at(-1).content).toEqual([pictureSent, text('again')])
})

verifies(
  ['contract-13.parts', 'contract-12.ai-sdk'],
  'useChat sends an edited message’s back as it read them',
  async () => {
    const id = randomUUID()
    const url = dataUrl('image/png', png())
    const asked = [{ type: 'file', mediaType: 'image/png', url }, text('one')]
    await rest(await ui.chat(id, '', { messages: [{ id: 'own', role: 'user', parts: asked }] }))
    const [{ id: own, parts }] = await ui.uiMessages(id)
    const edited = [...parts.slice(0, 1), text('two')]
    await rest(await ui.chat(id, '', { messages: [{ id: own, role: 'user', parts: edited }], messageId: own }))
    expect(sentMessages()).toEqual([{ role: 'user', content: [pictureSent, text('two')] }])
    const all = await ui.uiMessages(id)
    await rest(await ui.chat(id, '', { messages: [...all, { id: 'next', role: 'user', parts: [text('three')] }] }))
    expect(sentMessages().map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user'])
  },
)

verifies('contract-13.part-identity', 'by its path or by its bytes it is the same message', async () => {
  const { paths } = await attached()
  const id = await scene.newSession()
  const next = scene.byHand()
  const whole = scene.call('POST', completions(id), user(text('a'), image()))
  const up = await next
  const retry = { 'x-stainless-retry-count': '1' }
  const joined = scene.call('POST', completions(id), user(text('a'), picture(paths[0])), retry)
  await untilFollowed(id, 2)
  await up.finish()
  expect([(await joined).json.id, (await scene.messages(id)).length]).toEqual([(await whole).json.id, 2])
  scene.says(['ok'])
})

verifies('contract-13.part-refusals', 'a path at which there is nothing is 400 and names the field', async () => {
  const { id, paths } = await attached()
  const url = 'messages.0.content.0.image_url.url'
  for (const [part, param] of [
    [picture(paths[0].replace(/0$/, '7')), url],
    [picture(paths[0].replace(id, randomUUID())), url],
    [picture(paths[0].replace('/deploy/', '/playground/')), url],
    [picture(`${paths[0]}?x`), url],
    [picture('/api/v1/agents'), url],
    [picture(paths[1]), url],
    [document(paths[0]), 'messages.0.content.0.file.file_data'],
  ] as const) {
    for (const path of [completions(id), `${scene.agent}/deploy/chat/completions`]) {
      const { status, json } = await scene.call('POST', path, user(part))
      expect([part, status, json.error.param]).toEqual([part, 400, param])
    }
  }
})

verifies(['contract-13.part-refusals', 'contract-11.reach'], 'a secret reaches its own user’s alone', async () => {
  const [ann, bob] = [await door.secret('ann'), await door.secret('bob')]
  const [hers, his] = [await door.session('ann'), await door.session('bob')]
  const at = (id: string) => `${door.deploy()}/sessions/${id}/chat/completions`
  await door.as(ann, 'POST', at(hers), user(image()))
  const { json } = await door.as(ann, 'GET', `${door.deploy()}/sessions/${hers}/messages`)
  const again = user(picture(json.messages[0].parts[0].url))
  expect((await door.as(ann, 'POST', at(hers), again)).status).toBe(200)
  expect((await door.as(bob, 'POST', at(his), again)).status).toBe(400)
})
