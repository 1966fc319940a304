/** Calls of tools in what Gemini is sent: those that another model made. */
import { expect } from 'vitest'
import type { ModelMessage } from '../../../src/actors/ports/index.ts'
import { verifies } from '../../verifies.ts'
import { ask, textOf } from '../scene.ts'
import * as gemini from './gemini-server.ts'
import { look, open } from './native-scene.ts'

/** Google's documented word for a signature that there is none of. */
const notSigned = 'skip_thought_signature_validator'

const result = (toolCallId: string): ModelMessage => ({ role: 'tool', toolCallId, content: 'seen' })

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
    // Of several calls Google signs the first.
    expect([contents[1], contents[3]]).toEqual([
      { role: 'model', parts: [{ text: 'One.' }, { functionCall, thoughtSignature: notSigned }, { functionCall }] },
      { role: 'model', parts: [{ functionCall, thoughtSignature: notSigned }] },
    ])
  },
)
