/** `OpenAIConversationsSession` of the Agents SDK, unmodified (contract section 32). */
import { afterAll, beforeAll, expect } from 'vitest'
import { deployUrl } from '../../support/programs/product.ts'
import { verifies } from '../../verifies.ts'
import { openConversationsSession } from '../matrix.ts'
import { apiKey, openScene, type Scene } from '../scene.ts'

const driver = await openConversationsSession()
let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene?.close())

verifies(
  'contract-32.conversations-session',
  'each message stands once, and items are read, added, popped',
  async () => {
    const session = driver.open(
      { baseURL: deployUrl(scene.app.url, scene.agentId), apiKey },
      (word) => `${word} is weather`,
    )
    const roles = () => scene.up.calls.at(-1)?.body.messages.map(({ role }: { role: string }) => role)
    const kinds = async () => (await session.items()).map(({ type, role }) => role ?? type)
    scene.says('Hello')
    expect(await session.turn('Hi')).toBe('Hello')
    expect(await kinds()).toEqual(['user', 'assistant'])
    scene.up.next(async (call) => {
      await call.text('Let me look.')
      await call.toolCall({ name: 'lookup', arguments: '{"word":"sun"}', id: 'call-sun' })
      await call.finish('tool_calls')
    })
    scene.says('Known.')
    expect(await session.turn('Look up sun!')).toBe('Known.')
    const looked = ['user', 'assistant', 'user', 'assistant', 'function_call', 'function_call_result', 'assistant']
    expect(await kinds()).toEqual(looked)
    expect(roles()).toEqual(['system', 'user', 'assistant', 'user', 'assistant', 'tool'])
    scene.says('Bye')
    expect(await session.turn('Go on')).toBe('Bye')
    expect(await kinds()).toEqual([...looked, 'user', 'assistant'])
    expect(roles()).toEqual(['system', 'user', 'assistant', 'user', 'assistant', 'tool', 'assistant', 'user'])
    // Later turns are replies of that conversation.
    const url = `${deployUrl(scene.app.url, scene.agentId)}/sessions`
    const id = (await session.id()).replace('conv_', '')
    const answer = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } })
    const { sessions } = Object(await answer.json())
    expect(sessions.map((one: { id: string }) => one.id.replaceAll('-', ''))).toContain(id)
    await session.add([{ type: 'message', role: 'user', content: 'Added' }])
    expect(await kinds()).toEqual([...looked, 'user', 'assistant', 'user'])
    await session.pop()
    await session.pop()
    expect(await kinds()).toEqual([...looked, 'user'])
    scene.says('Again')
    expect(await session.turn('And?')).toBe('Again')
    await session.clear()
  },
)
