import { expect } from 'vitest'
import { readInput } from '../../../../src/http/wires/responses/input/input-items.ts'
import { verifies } from '../../../verifies.ts'

verifies('contract-24.whole-history', 'an assistant’s refusal in a history is its text', () => {
  const refused = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'Not that.' }] }
  expect(readInput([refused], {} as never)).toMatchObject([{ kind: 'assistant', text: 'Not that.' }]) // it has no uploads
})
