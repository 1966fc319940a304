/** The official client's own tool runner, unmodified: contract section 15, stateless and in a session. */
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { verifies } from '../../verifies.ts'
import { asks, openToolScene, says, startToolServer, type ToolScene } from '../tool-scene.ts'

let scene: ToolScene
let tools: Awaited<ReturnType<typeof startToolServer>>
beforeAll(async () => {
  scene = await openToolScene()
  tools = await startToolServer(() => 'looked')
  await scene.choose({ httpToolIds: [await scene.createTool({ name: 'look', url: tools.url })] })
})
beforeEach(() => {
  scene.up.forget()
  tools.requests.length = 0
})
afterAll(async () => {
  await tools[Symbol.asyncDispose]()
  await scene.close()
})

const weather = (asked: string[]) => ({
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    parse: JSON.parse,
    function({ city }: { city: string }): string {
      asked.push(city)
      return `Sunny in ${city}`
    },
  },
})
const call = (name: string, id: string, args: object) => ({ name, id, arguments: JSON.stringify(args) })

async function run(baseURL: string, stream: boolean) {
  scene.up.next(asks('Let me see. ', call('look', 'l1', {}), call('weather', 'w1', { city: 'Paris' })))
  if (baseURL.endsWith('/deploy')) scene.up.next(asks('', call('look', 'l2', {})))
  scene.up.next(asks('', call('weather', 'w2', { city: 'Rome' })))
  scene.up.next(says('Sunny everywhere.'))
  const asked: string[] = []
  const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'Weather in Paris and Rome?' }]
  const said = stream
    ? await client.chat.completions
        .runTools({ model: 'any', messages, tools: [weather(asked)], stream: true })
        .finalContent()
    : await client.chat.completions.runTools({ model: 'any', messages, tools: [weather(asked)] }).finalContent()
  return { asked, said }
}

for (const stream of [false, true]) {
  verifies('contract-15.official', `runTools works stateless, ${stream ? 'streamed' : 'whole'}`, async () => {
    const { asked, said } = await run(`${scene.app.url}${scene.agent}/deploy`, stream)
    expect([asked, said]).toEqual([['Paris', 'Rome'], 'Sunny everywhere.'])
    // The agent's own tool ran in the turn that held none of the caller's.
    expect(tools.requests).toHaveLength(1)
  })

  verifies('contract-15.official', `runTools works in a session, ${stream ? 'streamed' : 'whole'}`, async () => {
    const id = await scene.newSession()
    const { asked, said } = await run(`${scene.app.url}${scene.sessions}/${id}`, stream)
    expect([asked, said]).toEqual([['Paris', 'Rome'], 'Sunny everywhere.'])
    expect(tools.requests).toHaveLength(1)
    const { messages } = (await scene.call('GET', `${scene.sessions}/${id}/messages`)).json
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'assistant', 'assistant'])
  })
}
