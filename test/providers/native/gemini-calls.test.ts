/** Calls of tools in what Gemini is sent: those that another model made, and names that its API refuses. */
import { expect } from 'vitest'
import type { ModelMessage } from '../../../src/actors/ports/index.ts'
import type { Part } from '../../../src/providers/gemini/gemini-body.ts'
import { verifies } from '../../verifies.ts'
import { ask, textOf } from '../scene.ts'
import * as gemini from './gemini-server.ts'
import { look, open } from './native-scene.ts'

/** Google's documented word for a signature that there is none of. */
const notSigned = 'skip_thought_signature_validator'

const result = (toolCallId: string): ModelMessage => ({ role: 'tool', toolCallId, content: 'seen' })
const toolsNamed = (...names: string[]) => names.map((name) => ({ ...look, name }))

verifies(
  'contract-12.reasoning-back',
  'Gemini 3 takes turns of calls that it has not signed: another model made them, or a caller brings them',
  async () => {
    const { up, model, request } = await open('gemini')
    const call = (id: string) => ({ id, name: 'look', arguments: '{}' })
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Look!' },
      { role: 'assistant', content: 'One.', toolCalls: [call('a'), call('b')] },
      result('a'),
      result('b'),
      { role: 'assistant', content: '', toolCalls: [call('c')] },
      result('c'),
    ]
    up.next(gemini.tells({ text: ['Seen.'] }))
    expect(textOf(await ask(model, request({ tools: [look], messages })))).toBe('Seen.')
    const { contents } = (await up.call(1)).body
    const functionCall = { name: 'look', args: {} }
    // Google signs only the first one of several calls.
    expect([contents[1], contents[3]]).toEqual([
      { role: 'model', parts: [{ text: 'One.' }, { functionCall, thoughtSignature: notSigned }, { functionCall }] },
      { role: 'model', parts: [{ functionCall, thoughtSignature: notSigned }] },
    ])
  },
)

/** One turn in which the model calls each declared tool, and the next, which is sent the results. */
async function loop(names: readonly string[], called: (declared: string) => string = (name) => name) {
  const { up, model, request } = await open('gemini')
  const tools = toolsNamed(...names)
  up.next(async (one) => {
    const declared: { name: string }[] = one.body.tools[0].functionDeclarations
    const calls = declared.map(({ name }) => ({ name: called(name), args: {}, thoughtSignature: 'c2ln' }))
    await gemini.tells({ calls })(one)
  })
  up.next(gemini.tells({ text: ['Done.'] }))
  const events = await ask(model, request({ tools }))
  const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
  const end = events.at(-1)
  const messages: ModelMessage[] = [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: '',
      toolCalls: calls,
      ...(end?.type === 'end' && end.echo && { echo: JSON.parse(JSON.stringify(end.echo)) }),
    },
    ...calls.map(({ id }) => result(id)),
  ]
  expect(textOf(await ask(model, request({ tools, messages })))).toBe('Done.')
  const { contents } = (await up.call(2)).body
  const partsOf = (index: number): Part[] => contents[index].parts
  return {
    names: calls.map(({ name }) => name),
    back: partsOf(1).map(({ functionCall }) => functionCall?.name),
    results: partsOf(2).map(({ functionResponse }) => functionResponse?.name),
  }
}

verifies(
  'contract-6.names',
  'tools whose names Gemini refuses are called under others, and nobody else sees those',
  async () => {
    const long = `3d_${'x'.repeat(60)}`
    const names = ['1st', '_1st', '__1st', '-a', '_-a', '_', 'look', `${long}a`, `${long}b`]
    const { names: called, back, results } = await loop(names)
    expect(called).toEqual(names)
    expect(back).toEqual(results)
    expect(new Set(back).size).toBe(names.length)
    expect(back.slice(0, 7)).toEqual(['_1st', '__1st', '___1st', '_-a', '__-a', '_', 'look'])
  },
)

verifies('contract-6.names', 'a name that the model made up is its own', async () => {
  expect((await loop(['1st'], () => '_2nd')).names).toEqual(['_2nd'])
  expect((await loop(['1st'], () => '1st')).names).toEqual(['1st'])
})

verifies(
  'contract-6.names',
  'so are such tools that must be called, and those of a history without tools',
  async () => {
    const { up, model, request } = await open('gemini')
    up.always(gemini.tells({ text: ['ok'] }))
    const toolCalls = [{ id: 'a', name: '1st', arguments: '{}' }]
    const messages: ModelMessage[] = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '', toolCalls },
      result('a'),
    ]
    const forced = request({ tools: toolsNamed('1st'), toolChoice: { name: '1st' } })
    for (const one of [forced, request({ messages })]) expect(textOf(await ask(model, one))).toBe('ok')
    const [{ body: first }, { body: second }] = [await up.call(1), await up.call(2)]
    expect(first.toolConfig.functionCallingConfig.allowedFunctionNames).toEqual(['_1st'])
    expect(second.tools[0].functionDeclarations).toMatchObject([{ name: '_1st' }])
  },
)
