/** The suite's own model: its rules on both wires (contract section 34). */
import { afterAll, expect } from 'vitest'
import { startModel } from '../../packages/conformance/src/model/server.ts'
import { verifies } from '../verifies.ts'

const model = await startModel(0)
afterAll(() => model.close())

// biome-ignore lint/suspicious/noExplicitAny: what the model sends is what the tests look at
type Event = any

/** Each wire: the field of its messages, the result of a call, and what an event says. */
const wires = {
  'chat/completions': {
    field: 'messages',
    result: { role: 'tool', tool_call_id: 'c', content: 'x' },
    textOf: ({ choices }: Event) => choices[0].delta.content ?? '',
    callsOf: ({ choices }: Event) => (choices[0].delta.tool_calls ?? []).map((call: Event) => call.function),
  },
  responses: {
    field: 'input',
    result: { type: 'function_call_output', call_id: 'c', output: 'x' },
    textOf: ({ type, delta }: Event) => (type === 'response.output_text.delta' ? delta : ''),
    callsOf: ({ type, item }: Event) =>
      type === 'response.output_item.done' && item.type === 'function_call' ? [item] : [],
  },
} as const

for (const [wire, { field, result, textOf, callsOf }] of Object.entries(wires)) {
  const ask = (rule: string, { behind = [], stream = true }: { behind?: object[]; stream?: boolean } = {}) => {
    const body = { model: 'm', stream, [field]: [{ role: 'user', content: rule }, ...behind] }
    return fetch(`${model.url}/${wire}`, { method: 'POST', body: JSON.stringify(body) })
  }
  const read = async (rule: string, behind: object[] = []) => {
    const events = (await (await ask(rule, { behind })).text()).split('\n').filter((line) => line.startsWith('data: {'))
    return events.map((line) => JSON.parse(line.slice('data: '.length)))
  }
  const textIn = async (rule: string) => (await read(rule)).map(textOf).join('')

  verifies('contract-34.model', `${wire}: words, bytes, and a call until its result is there`, async () => {
    expect(await textIn('words 3 gap 1')).toBe('word1 word2 word3 ')
    expect(await textIn('bytes 5000')).toHaveLength(5000)
    const call = { name: 'look_up', arguments: '{"q": {"a": 1}}' }
    const rule = `call ${call.name} ${call.arguments}`
    expect((await read(rule)).flatMap(callsOf)).toMatchObject([call])
    expect((await read(rule, [result])).flatMap(callsOf)).toEqual([])
    expect(await (await ask('words 2', { stream: false })).text()).toContain('"word1 word2 "')
  })

  verifies(
    'contract-34.model',
    `${wire}: a failing one breaks off behind its text, one that hangs says nothing`,
    async () => {
      await expect((await ask('fail after 2')).text()).rejects.toThrow('terminated')
      const hanging = await ask(`hang ${wire}`)
      const reader = hanging.body?.getReader()
      const { value } = (await reader?.read()) ?? {}
      expect(new TextDecoder().decode(value)).not.toContain('word')
      expect(model.callsFor(`hang ${wire}`).map(({ state }) => state)).toEqual(['running'])
      await reader?.cancel()
      await expect.poll(() => model.callsFor(`hang ${wire}`).map(({ state }) => state)).toEqual(['left'])
    },
  )
}
