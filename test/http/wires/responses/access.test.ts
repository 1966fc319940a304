/** Who reaches the Responses API, by which paths, and with what (contract section 24). */
import { afterAll, expect } from 'vitest'
import { dataUrl, pdf, png } from '../../../features/parts/routes/parts-scene.ts'
import { openFrontDoor } from '../../../features/users/access/front-door-scene.ts'
import { verifies } from '../../../verifies.ts'
import { nobody, storedMessages } from '../../scene.ts'
import { sessionOf } from './responses-scene.ts'

const scene = await openFrontDoor()
afterAll(scene.close)
scene.says('ok')
const responses = `${scene.deploy()}/responses`
const openai = '/api/v1/openai/responses'

verifies(
  ['contract-24.secrets', 'contract-11.reach'],
  'a secret makes and reaches responses of its user alone',
  async () => {
    const [anna, ben] = [await scene.secret('anna'), await scene.secret('ben')]
    const made = await scene.as(anna, 'POST', responses, { input: 'hi' })
    expect(made.status).toBe(200)
    const { id, conversation, output } = made.json
    const before = await storedMessages(scene.here)
    const answers = [
      await scene.as(ben, 'GET', `${responses}/${id}`),
      await scene.as(ben, 'GET', `${responses}/${id}?stream=true`),
      await scene.as(ben, 'GET', `${responses}/${id}/input_items`),
      await scene.as(ben, 'POST', `${responses}/${id}/cancel`),
      await scene.as(ben, 'POST', responses, { input: 'x', conversation }),
    ]
    expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual(answers.map(() => [404, 'not_found']))
    const behind = await scene.as(ben, 'POST', responses, { input: 'x', previous_response_id: id })
    expect([behind.status, behind.json.error.code]).toEqual([400, 'previous_response_not_found'])
    const previous_response_id = `resp_${nobody.replaceAll('-', '')}`
    expect((await scene.as(ben, 'POST', responses, { input: 'x', previous_response_id })).json).toEqual(behind.json)
    expect((await scene.as(ben, 'POST', responses, { input: 'x', store: false })).status).toBe(403)
    expect((await scene.as(ben, 'POST', responses, { input: 'x', user: 'anna' })).status).toBe(403)
    expect((await scene.as(ben, 'POST', openai, { input: 'x', model: scene.agentId })).status).toBe(403)
    expect(await storedMessages(scene.here)).toBe(before)
    // Items that are not his name no place: what he sends begins a conversation of his own, which may bring no history.
    const named = await scene.as(ben, 'POST', responses, { input: [...output, { role: 'user', content: 'x' }] })
    expect(named.status).toBe(403)
    const one = await scene.secret('anna', { session_id: sessionOf(conversation.id) })
    expect((await scene.as(one, 'POST', responses, { input: 'x', conversation })).status).toBe(200)
    expect((await scene.as(one, 'POST', responses, { input: 'x' })).status).toBe(403)
    const wrong = await scene.as('ek_nonsense', 'GET', `${responses}/${id}`)
    expect([wrong.status, wrong.json.error.code, wrong.json.error.param]).toEqual([401, 'invalid_api_key', null])
  },
)

verifies('contract-24.by-model', 'model or an id names the agent', async () => {
  const made = await scene.asKey('POST', openai, { input: 'hi', model: scene.agentId })
  expect([made.status, made.json.status]).toEqual([200, 'completed'])
  const { id } = made.json
  const below = await scene.asKey('GET', `${responses}/${id}`)
  expect((await scene.asKey('GET', `${openai}/${id}`)).json).toEqual(below.json)
  expect((await scene.asKey('POST', `${openai}/${id}/cancel`)).json).toEqual(below.json)
  expect((await scene.asKey('GET', `${openai}/${id}/input_items`)).json.data).toHaveLength(1)
  const next = await scene.asKey('POST', openai, { input: 'x', model: scene.agentId, previous_response_id: id })
  expect(next.json.conversation).toEqual(made.json.conversation)
  const other = await scene.newAgent()
  expect((await scene.asKey('GET', `${scene.deploy(other)}/responses/${id}`)).status).toBe(404)
  const elsewhere = await scene.asKey('POST', openai, { input: 'x', model: other, previous_response_id: id })
  expect([elsewhere.status, elsewhere.json.error.code]).toEqual([400, 'previous_response_not_found'])
  const unknown = await scene.asKey('POST', openai, { input: 'x', model: 'nobody' })
  expect([unknown.status, unknown.json.error.param]).toEqual([404, 'model'])
})

verifies('contract-24.parts', 'pictures and files reach the model, and are listed again', async () => {
  const content = [
    { type: 'input_text', text: 'see ' },
    { type: 'input_image', image_url: dataUrl('image/png', png()) },
    { type: 'input_file', file_data: dataUrl('application/pdf', pdf()), filename: 'a.pdf' },
  ]
  const made = await scene.asKey('POST', responses, { input: [{ role: 'user', content }] })
  expect(made.status).toBe(200)
  expect(scene.up.calls.at(-1)?.body.messages.at(-1).content).toMatchObject([
    { type: 'text', text: 'see ' },
    { type: 'image_url', image_url: { url: dataUrl('image/png', png()) } },
    { type: 'file', file: { filename: 'a.pdf' } },
  ])
  const [item] = (await scene.asKey('GET', `${responses}/${made.json.id}/input_items`)).json.data
  expect(item.content.map(({ type }: { type: string }) => type)).toEqual(['input_text', 'input_image', 'input_file'])
  const again = [{ type: 'input_image', image_url: item.content[1].image_url }]
  expect((await scene.asKey('POST', responses, { input: [{ role: 'user', content: again }] })).status).toBe(200)
  const refused = async (part: object) => {
    const answer = await scene.asKey('POST', responses, { input: [{ role: 'user', content: [part] }] })
    return [answer.status, answer.json.error.param]
  }
  expect(await refused({ type: 'input_image', file_id: 'f' })).toEqual([400, 'input.0.content.0.file_id'])
  expect(await refused({ type: 'input_file', file_url: 'https://x' })).toEqual([400, 'input.0.content.0.file_url'])
  expect(await refused({ type: 'input_audio' })).toEqual([400, 'input.0.content.0.type'])
  const broken = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
  expect(await refused(broken)).toEqual([400, 'input.0.content.0.image_url'])
})
