/** Numbers in calls keep their digits, on their way from a vendor and back (contract section 35). */
import { expect } from 'vitest'
import type { ModelMessage } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'
import * as anthropic from '../native/anthropic-server.ts'
import * as gemini from '../native/gemini-server.ts'
import { both, look, open } from '../native/native-scene.ts'
import { ask, requestTo, scene } from '../scene.ts'

const text = '{"q":{"id":1917043659912705297,"price":1.50}}'
const args = { q: { id: JSON.rawJSON('1917043659912705297'), price: JSON.rawJSON('1.50') } }

verifies('contract-35.digits', 'Gemini, which sends arguments as an object', async () => {
  const { up, model, request } = await open('gemini')
  up.next(gemini.tells({ calls: [{ name: 'look', args }] }))
  const events = await ask(model, request({ tools: [look] }))
  expect(events.flatMap((event) => (event.type === 'tool_call' ? [event.call.arguments] : []))).toEqual([text])
  expect(events.at(-1)).toMatchObject({ type: 'end', usage: { promptTokens: 5, completionTokens: 7 } })
})

verifies(
  'contract-35.digits',
  'chat completions: an object in the place of text, and the whole arguments twice',
  async () => {
    const { up, model } = await scene()
    const sent = [args, `{}${text}`, `${text}${text}`, text]
    for (const one of sent) {
      up.next(async (call) => {
        await call.delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: one } }] })
        await call.finish('tool_calls')
      })
      const events = await ask(model, requestTo(up))
      expect(events.flatMap((event) => (event.type === 'tool_call' ? [event.call.arguments] : []))).toEqual([text])
    }
  },
)

verifies('contract-35.digits', 'the vendors that are sent arguments as an object get them as they were', async () => {
  const messages: ModelMessage[] = [
    { role: 'user', content: 'Look!' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'look', arguments: text }] },
    { role: 'tool', toolCallId: 'a', content: 'seen' },
  ]
  for (const vendor of both) {
    const { up, model, request } = await open(vendor)
    up.next((call) => call.error(400))
    await ask(model, request({ tools: [look], messages })).catch(() => {})
    expect(JSON.stringify((await up.call(1)).body)).toContain(`:${text}`)
  }
})

verifies(
  'contract-35.digits',
  'an echo that was stored with a waiting call, but not one whose call was changed',
  async () => {
    for (const vendor of both) {
      const { up, model, request } = await open(vendor)
      const call = { id: 'a', name: 'look' }
      const tells = {
        gemini: gemini.tells({ calls: [{ ...call, args }] }),
        anthropic: anthropic.tells({ calls: [{ ...call, input: args }] }),
      }
      up.next(tells[vendor])
      const end = (await ask(model, request({ tools: [look] }))).at(-1)
      if (end?.type !== 'end' || end.echo === undefined) throw new Error('no echo')
      const echo = JSON.parse(JSON.stringify(end.echo))
      const sent = async (own: string) => {
        const messages: ModelMessage[] = [
          { role: 'user', content: 'Look!' },
          { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'look', arguments: own }], echo },
          { role: 'tool', toolCallId: 'a', content: 'seen' },
        ]
        const before = up.calls.length
        up.next((call) => call.error(400))
        await ask(model, request({ tools: [look], messages })).catch(() => {})
        return JSON.stringify((await up.call(before + 1)).body)
      }
      expect(await sent(text)).toContain(`:${text}`)
      expect(await sent(text.replace('1917', '1918'))).not.toContain('1918043659912705297')
    }
  },
)
