/** Tools that the caller brings, stateless and in sessions: contract section 15 over real sockets. */
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { asks, openToolScene, says, type ToolScene } from '../../../http/tool-scene.ts'
import { verifies } from '../../../verifies.ts'

let scene: ToolScene
let before = 0
beforeAll(async () => {
  scene = await openToolScene()
})
beforeEach(async () => {
  before = scene.up.calls.length
  scene.up.forget()
  await scene.choose({})
})
afterAll(() => scene.close())

const weather = {
  type: 'function',
  function: { name: 'weather', description: 'The weather.', parameters: { type: 'object', properties: {} } },
}
const call = (name: string, id: string, args = '{}') => ({ name, id, arguments: args })
const wireCall = (name: string, id: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const user = { role: 'user', content: 'How is the weather?' }
// biome-ignore lint/suspicious/noExplicitAny: the provider's wire format
const sent = async (number: number): Promise<any> => (await scene.up.call(before + number)).body
const stateless = (body: object) => scene.call('POST', `${scene.agent}/deploy/chat/completions`, body)

verifies(
  'contract-15.caller-tools',
  'a stateless call of theirs ends the reply, and its result continues it',
  async () => {
    scene.up.next(asks('Let me see. ', call('weather', 'c1', '{"city":"Paris"}')))
    scene.up.next(says('Sunny.'))
    const tools = [weather]
    const asked = await stateless({ messages: [user], tools, tool_choice: 'required' })
    expect(asked.status).toBe(200)
    const [choice] = asked.json.choices
    expect(choice).toEqual({
      index: 0,
      message: {
        role: 'assistant',
        content: 'Let me see. ',
        tool_calls: [wireCall('weather', 'c1', '{"city":"Paris"}')],
      },
      finish_reason: 'tool_calls',
    })
    expect(await sent(1)).toMatchObject({ tools: [weather], tool_choice: 'required' })
    const result = { role: 'tool', tool_call_id: 'c1', content: 'sunny' }
    const answered = await stateless({ messages: [user, choice.message, result], tools })
    expect(answered.json.choices[0]).toMatchObject({ message: { content: 'Sunny.' }, finish_reason: 'stop' })
    const body = await sent(2)
    expect(body.messages.slice(-2)).toEqual([choice.message, result])
    expect(body.tool_choice).toBeUndefined()
  },
)
