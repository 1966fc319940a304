/** Numbers keep their digits in what the pages show, edit, compare and send (section 35). */
import { expect } from 'vitest'
import { parseNoted, writeExact } from '../../src/untrusted/exact-json.ts'
import { approvalsOf, labelOf, sentApproval, typedApproval } from '../../ui/src/agents/approvals.ts'
import { readableError } from '../../ui/src/blocks/messages/provider-error.ts'
import { argumentsIn, draftOf, schemaOf, switched, withArguments } from '../../ui/src/http-tools/schema-draft.ts'
import { curlOf } from '../../ui/src/traces/words.ts'
import { givenTo } from '../../ui/src/waiting/given.ts'
import { withUnchanged } from '../../ui/src/with-unchanged.ts'
import { verifies } from '../verifies.ts'

verifies('contract-35.digits', 'a schema with numbers that JavaScript writes otherwise is edited as JSON', () => {
  const text = '{"type":"object","properties":{"a":{"type":"integer","minimum":1917043659912705297,"default":1.0}}}'
  const schema = Object(parseNoted(text))
  const draft = draftOf(schema)
  expect(draft.mode).toBe('json')
  expect(switched(draft)).toBeNull()
  expect(JSON.stringify(schemaOf(draft))).toBe(text)
  expect(JSON.stringify(schemaOf(withArguments(draft, ['b'])))).toContain('"minimum":1917043659912705297,"default":1.0')
  // To be filled in, it is a form all the same.
  expect(argumentsIn(schema)).toMatchObject([{ name: 'a', type: 'integer' }])
})

verifies('contract-35.digits', 'a condition is shown, kept in a form that copies it, and sent with its digits', () => {
  const text = '{"httpToolId":"t","when":{"properties":{"a":{"const":9007199254740993}}}}'
  const known = [{ label: 'pay', approval: { httpToolId: 't' } }]
  const typed = structuredClone(typedApproval(Object(parseNoted(text))))
  const label = labelOf(typed, known)
  expect(label).toBe('pay when {"properties":{"a":{"const":9007199254740993}}}')
  expect(JSON.stringify(sentApproval(typed))).toBe(text)
  expect(
    approvalsOf([label.replace('93}', '94}')], [typed], known).map((one) => JSON.stringify(sentApproval(one))),
  ).toEqual([text.replace('93}', '94}')])
})

verifies('contract-35.digits', 'a newer answer that differs in digits alone replaces the one before', () => {
  const [before, same, other] = ['93', '93', '92'].map((end) => parseNoted(`{"a":{"b":[90071992547409${end}]},"c":{}}`))
  const shared = withUnchanged((older) => older)
  expect(writeExact(shared(before, other))).toBe(writeExact(other))
  expect(shared(before, same)).toBe(before)
  expect(shared(undefined, before)).toBe(before)
  // Answers without such digits are shared in parts.
  const plain = { a: { b: [1] } }
  expect(shared(plain, { a: { b: [1] } })).toBe(plain)
})

verifies(
  'contract-35.digits',
  'calls that wait are told apart by digits, and a provider’s answer keeps its own',
  () => {
    expect(givenTo([{ arguments: '{"id":9007199254740993,"at":[1.0]}' }])).toBe('9007199254740993 · [1.0]')
    expect(readableError('400: {"message":"No.","id":9007199254740993}').answer).toContain('"id": 9007199254740993')
  },
)

verifies('contract-35.digits', 'a request is copied with its digits', () => {
  const body = Object(parseNoted('{"messages":[],"seed":9007199254740993}'))
  const left = { messages: 0, tokens: 0, reason: null }
  const request = { turn: 1, at: '2026-06-01T00:00:00.000Z', providerId: 'p', model: 'm', body, left }
  expect(curlOf(request, { type: 'openai', baseUrl: 'https://x.example/v1/' })).toContain('"seed":9007199254740993')
})
