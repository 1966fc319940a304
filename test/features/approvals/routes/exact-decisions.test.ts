/** What was shown to the person who decides is what the tool gets (contract section 35). */
import { afterAll, expect } from 'vitest'
import { asks } from '../../../http/tool-scene.ts'
import { uiScene } from '../../../http/ui-scene.ts'
import { verifies } from '../../../verifies.ts'
import { approve, call, openWaitingScene, weather } from './waiting-scene.ts'

const scene = await openWaitingScene()
afterAll(scene.close)

async function waiting(args: string): Promise<string> {
  const id = await scene.newSession()
  scene.up.next(asks('', call('pay', 'c1', args)))
  await scene.send(id, 'Pay!')
  return id
}

const amount = (digits: string) => ({ amount: JSON.rawJSON(digits) })

verifies(
  'contract-35.digits',
  'an approved call, as it stands, with changed arguments, and with equal ones',
  async () => {
    const written = '{"amount":1917043659912705297}'
    const decisions: [object, string][] = [
      [approve('c1'), written],
      [approve('c1', amount('1917043659912705297')), written],
      [approve('c1', amount('1917043659912705299')), '{"amount":1917043659912705299}'],
      [approve('c1', { amount: 1917043659912705300 }), '{"amount":1917043659912705300}'],
    ]
    for (const [decision, made] of decisions) {
      const id = await waiting(written)
      expect((await scene.session(id)).pending).toMatchObject([{ arguments: written }])
      scene.says('Paid.')
      expect((await scene.decide(id, [decision])).status).toBe(200)
      expect(scene.tools.requests.at(-1)?.body).toBe(made)
    }
  },
)

verifies('contract-35.digits', '1 in the place of 1.0 is no change', async () => {
  const id = await waiting('{"amount":10.0}')
  scene.says('Paid.')
  const { json } = await scene.decide(id, [approve('c1', { amount: 10 })])
  expect(json.choices[0].message.content).toBe('Paid.')
  expect(scene.tools.requests.at(-1)?.body).toBe('{"amount":10.0}')
})

verifies('contract-35.digits', 'the AI SDK’s parts, in the stream and when read later', async () => {
  const { aiSdk, chat } = uiScene(scene)
  const id = crypto.randomUUID()
  const written = '{"amount":1917043659912705297}'
  scene.up.next(asks('', call('pay', 'c1', written)))
  const stream = await chat(id, 'Pay!')
  await stream.rest()
  expect(stream.raw()).toContain(`"input":${written}`)
  expect((await scene.call('GET', `${aiSdk}/${id}/messages`)).text).toContain(`"input":${written}`)
})

verifies('contract-35.digits', 'a result that a page brings as an object', async () => {
  const { aiSdk, chatBody } = uiScene(scene)
  const id = crypto.randomUUID()
  scene.up.next(asks('', call('weather', 'c1')))
  await scene.call('POST', aiSdk, { ...chatBody(id, 'Look!'), tools: [weather] })
  const asking = (await scene.call('GET', `${aiSdk}/${id}/messages`)).json.messages.at(-1)
  const output = { id: JSON.rawJSON('1917043659912705297') }
  const part = {
    type: 'dynamic-tool',
    toolName: 'weather',
    toolCallId: 'c1',
    state: 'output-available',
    input: {},
    output,
  }
  scene.says('Seen.')
  const { status, text } = await scene.call('POST', aiSdk, {
    ...chatBody(id, ''),
    messages: [{ ...asking, parts: [part] }],
  })
  expect([status, text]).toEqual([200, expect.stringContaining('Seen.')])
  expect(scene.up.calls.at(-1)?.body.messages.at(-1).content).toBe('{"id":1917043659912705297}')
})

verifies('contract-35.digits', 'a test of a tool', async () => {
  const id = await scene.createTool({ name: 'tried', method: 'POST', url: `${scene.tools.url}/tried` })
  const args = { id: JSON.rawJSON('1917043659912705297') }
  const { json } = await scene.call('POST', `/api/v1/http-tools/${id}/test`, { arguments: args })
  expect(json.body).toBe('done /tried {"id":1917043659912705297}')
})
