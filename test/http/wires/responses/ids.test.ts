/** Ids of the Responses API, its pages, and where a history begins (contract sections 24 and 32). Pure. */
import { expect } from 'vitest'
import { beginningOf } from '../../../../src/http/wires/responses/input/history-items.ts'
import type { InputItem } from '../../../../src/http/wires/responses/input/input-items.ts'
import { callUuid, givenNames, idOf, partUuid, uuidIn } from '../../../../src/http/wires/responses/output/ids.ts'
import { listOfItems } from '../../../../src/http/wires/responses/output/item-list.ts'
import { verifies } from '../../../verifies.ts'

const reply = '0198c0de-0000-7000-8000-00000000000a'
const other = '0198c0de-1111-7000-8000-00000000000a'

verifies(
  'contract-24.object',
  'an id is taken with its prefix or bare, with dashes or without, and in no other form',
  () => {
    const hex = reply.replaceAll('-', '')
    for (const id of [reply, hex, `resp_${hex}`, `mcpr_${reply}`, reply.toUpperCase()]) expect(uuidIn(id)).toBe(reply)
    for (const id of [`x_${hex}`, `${hex}0`, hex.slice(1), `resp_${hex}${'-'.repeat(80)}`, '', 7]) {
      expect(uuidIn(id)).toBeNull()
    }
  },
)

verifies('contract-32.turns', 'a call keeps its own id in its reply alone, and repeated ids are told apart', () => {
  const own = `call_${partUuid(reply, 'call:c').replaceAll('-', '')}`
  expect(callUuid(reply, own)).toBe(uuidIn(own))
  expect(callUuid(other, own)).toBe(partUuid(other, `call:${own}`))
  const name = givenNames(reply)
  const call = { type: 'tool_call', id: 'c' } as const
  const [first, output, second] = [name(call), name({ type: 'tool_result', id: 'c' }), name(call)]
  expect(first).toBe(partUuid(reply, 'call:c'))
  expect(new Set([first, output, second]).size).toBe(3)
})

verifies(
  'contract-24.conversations',
  'a page ends with its limit, says whether there are more, and begins behind any form of an id',
  async () => {
    const items = [reply, other].map((uuid) => ({ id: idOf('msg', uuid) }))
    const [first, second] = items
    expect(await listOfItems(items, { limit: 2 })).toMatchObject({ data: items, has_more: false, last_id: second?.id })
    expect(await listOfItems(items, { limit: 1 })).toMatchObject({ data: [first], has_more: true, first_id: first?.id })
    for (const after of [first?.id, reply]) expect((await listOfItems(items, { after })).data).toEqual([second])
    expect(await listOfItems(items, { after: other })).toEqual({
      ...{ object: 'list', data: [], first_id: null, last_id: null, has_more: false },
    })
    await expect(listOfItems(items, { after: 'msg_1' })).rejects.toThrow('after')
  },
)

verifies(
  'contract-32.ends-in-outputs',
  'a history that ends in outputs goes on with all calls since its last user',
  () => {
    const item = { where: 'input.0', uuid: null }
    const user = (text: string): InputItem => ({ ...item, kind: 'user', message: { text, parts: [] } })
    const call = (callId: string): InputItem => ({ ...item, kind: 'call', callId, name: 'look', arguments: '{}' })
    const output = (callId: string): InputItem => ({ ...item, kind: 'output', callId, output: 'x', parts: [] })
    const { history, chain } = beginningOf([
      ...[user('a'), call('1'), output('1'), user('b')],
      ...[call('2'), output('2'), call('3'), call('4'), output('4'), output('3')],
    ])
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(chain).toMatchObject({ callsUsed: 3, turns: [{ role: 'assistant' }, { role: 'tool', toolCallId: '2' }] })
    expect(chain?.turn.answer.toolCalls?.map(({ id }) => id)).toEqual(['3', '4'])
    expect(() => beginningOf([user('a'), call('1'), output('1'), output('1')])).toThrow('no open call')
    expect(() => beginningOf([user('a'), call('1'), user('b')])).toThrow('no output behind it')
    const many = (count: number) => [
      ...Array.from({ length: count }, (_, n) => call(`${n}`)),
      ...Array.from({ length: count }, (_, n) => output(`${n}`)),
    ]
    // Each message of the assistant has its own thousand.
    expect(beginningOf([user('a'), ...many(1000), user('b'), ...many(1000)]).chain?.callsUsed).toBe(1000)
    expect(() => beginningOf([user('a'), ...many(1001)])).toThrow('more than 1000 calls')
  },
)
