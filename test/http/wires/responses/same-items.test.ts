/** What makes a sent item the same as a stored one (contract section 32). */
import { expect } from 'vitest'
import { sentKey, storedKey } from '../../../../src/http/wires/responses/input/same-items.ts'
import { verifies } from '../../../verifies.ts'

verifies(
  'contract-32.repeated-path',
  'a call’s id, name and arguments are compared, and an output’s text and parts',
  () => {
    const base = { where: 'input.0', uuid: null }
    const call = { callId: 'c1', name: 'look', arguments: '{"q":1}' }
    const storedCall = { id: 'fc_1', type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"q":1}' }
    const sameCall = (differs: object) =>
      sentKey({ ...base, kind: 'call', ...call, ...differs }) === storedKey(storedCall)
    expect(sameCall({})).toBe(true)
    for (const differs of [{ callId: 'c2' }, { name: 'see' }, { arguments: '{"q":2}' }])
      expect([differs, sameCall(differs)]).toEqual([differs, false])

    const path = '/api/v1/agents/a/part'
    const contents = new Map([[path, { sha256: 'ab' }]])
    const storedOutput = { id: 'fco_1', type: 'function_call_output', call_id: 'c1' }
    const listed = [
      { type: 'input_text', text: 'seen' },
      { type: 'input_image', image_url: path },
    ]
    const sent = { ...base, kind: 'output', callId: 'c1', output: 'seen', parts: [] } as const
    expect(sentKey(sent)).toBe(storedKey({ ...storedOutput, output: 'seen' }))
    expect(sentKey({ ...sent, output: 'other' })).not.toBe(storedKey({ ...storedOutput, output: 'seen' }))
    const part = { type: 'image_url', filename: null, detail: null, where: '', source: { kind: 'path', path } } as const
    const withPart = (place: number) => sentKey({ ...sent, parts: [{ ...part, place }] }, contents)
    const stored = storedKey({ ...storedOutput, output: listed }, contents)
    expect(withPart(4)).toBe(stored)
    for (const other of [withPart(0), sentKey(sent, contents)]) expect(other).not.toBe(stored)
  },
)
