/** Requests of the AI SDK's transport as they are read (contract sections 12 to 15, 25 and 35). */
import { describe, expect } from 'vitest'
import { createUploads } from '../../../../src/features/parts/routes/uploads.ts'
import { createShare } from '../../../../src/http/server/request-body/shares.ts'
import { readChatRequest } from '../../../../src/http/wires/ai-sdk/input.ts'
import { parseNoted } from '../../../../src/untrusted/exact-json.ts'
import { isObject } from '../../../../src/untrusted/is-object.ts'
import { verifies } from '../../../verifies.ts'

type Body = Parameters<typeof readChatRequest>[0]

const isBody = (value: unknown): value is Body => isObject(value) && Array.isArray(value.messages)

/** Reads a body as it comes over the network: numbers keep their digits, and bytes are taken out of it. */
function read(given: object | string) {
  const share = createShare({ bytes: 2 ** 26, holders: 1 }, 0)
  const uploads = createUploads(
    2 ** 20,
    () => share.account('somebody'),
    (address) => (address.startsWith('https://own.test/') ? address.slice('https://own.test'.length) : null),
  )
  const pieces: Buffer[] = []
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  uploads.filter().pass(Buffer.from(text), (bytes) => void pieces.push(Buffer.from(bytes)))
  const body = parseNoted(Buffer.concat(pieces).toString())
  if (!isBody(body)) throw new Error('no body')
  return readChatRequest(body, uploads)
}

const id = 'chat'
const said = (text: string, more: object = {}) => ({ role: 'user', parts: [{ type: 'text', text }], ...more })
const reply = (...parts: object[]) => ({ id: 'R', role: 'assistant', parts })
const call = (toolCallId: string, state: string, more: object = {}) => ({
  ...{ type: 'dynamic-tool', toolCallId, state },
  ...more,
})
const hashOf = (body: object) => JSON.stringify(read({ id, ...body }).hashedInput)
const picture = (bytes: string) => `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`
const png = picture('one')

describe('a message', () => {
  verifies('contract-12.ai-sdk-input', 'a key is held to what the message, or its decisions, say', () => {
    const words = (...messages: object[]) => hashOf({ messages })
    expect(words(said('a', { id: 'x' }))).toBe(words(said('before'), reply(), said('a', { id: 'y' })))
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'file', url: png },
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
      { type: 'file', url: 'https://own.test/api/parts/1' },
    ]
    const message = (...more: object[]) => words({ role: 'user', parts: more })
    const other = [
      { type: 'text', text: 'b' },
      { type: 'file', url: picture('two') },
      { type: 'file', mediaType: 'image/png', url: 'https://example.com/b.png' },
      { type: 'file', url: 'https://own.test/api/parts/2' },
    ]
    const changed = parts.map((_, at) =>
      message(...parts.map((part, index) => (at === index ? (other[at] ?? part) : part))),
    )
    expect(new Set([message(...parts), ...changed]).size).toBe(5)

    const again = (text: string) => hashOf({ trigger: 'regenerate-message', messages: [said(text)] })
    expect(new Set([again('a'), again('b'), words(said('a'))]).size).toBe(3)

    const decide = (approved: boolean, more: object = {}) =>
      hashOf({ messages: [reply(call('c', 'approval-responded', { approval: { id: 'c', approved } }))], ...more })
    expect(new Set([decide(true), decide(false), decide(true, { remember: 'session' })]).size).toBe(3)
  })

  verifies('contract-14.ai-sdk', 'its place is looked for in the messages up to it, and in none behind it', () => {
    const list = [said('a'), reply(), said('b'), { ...reply(), id: 'S' }, { role: 'system', parts: [] }]
    const { place } = read({ id, trigger: 'regenerate-message', messages: list })
    expect([place.messages.length, place.messageId]).toEqual([3, null])
    const sent = read({ id, messageId: 'm', messages: [...list.slice(0, 3), { role: 'system', content: 'Be brief.' }] })
    expect([sent.place.messages.length, sent.place.messageId]).toEqual([3, 'm'])
  })

  verifies('contract-25.page-instructions', 'the body’s own instructions come first, whatever stands behind', () => {
    const messages = [
      { role: 'system', parts: [{ type: 'text', text: 'one' }] },
      said('a'),
      { role: 'developer', content: 'two' },
    ]
    const { instructions, ...sent } = read({ id, system: 'zero', messages })
    expect(instructions.map(({ name, text }) => [name, text])).toEqual([
      ['system', 'zero'],
      ['system', 'one'],
      ['developer', 'two'],
    ])
    expect(sent).toMatchObject({ text: 'a' })
    expect(read({ id, system: 7, messages: [said('a')] }).instructions).toEqual([])
  })

  verifies('contract-14.ai-sdk', 'one to answer again is known by its texts alone, joined as they are', () => {
    const textOf = (parts: unknown) => read({ id, trigger: 'regenerate-message', messages: [{ role: 'user', parts }] })
    const file = { type: 'file', url: png }
    expect(textOf([{ type: 'text', text: 'a' }, file, null, { type: 'text', text: 'b' }])).toMatchObject({ text: 'ab' })
    expect(textOf(undefined)).toMatchObject({ text: '', isRegenerate: true })
  })

  verifies('contract-13.parts', 'a part is a picture by its bytes, at an address by what it is said to be', () => {
    const part = (more: object) => {
      const sent = read({ id, messages: [{ role: 'user', parts: [{ type: 'file', ...more }] }] })
      return 'parts' in sent && sent.parts?.map(({ type, filename }) => [type, filename])[0]
    }
    expect(part({ url: png, mediaType: 'text/plain', filename: 'a.png' })).toEqual(['image_url', 'a.png'])
    expect(part({ url: 'data:text/plain;base64,aGk=', mediaType: 'image/png' })).toEqual(['file', null])
    expect(part({ url: 'https://example.com/a', mediaType: 'Image/PNG' })).toEqual(['image_url', null])
    expect(() => part({ url: 'https://example.com/a', mediaType: 'text/plain' })).toThrow(
      'messages.0.parts.0.url: must be a data: URL',
    )
  })
})

describe('what it says of calls', () => {
  const decisionsIn = (...parts: object[]) => read({ id, messages: [reply(...parts)] }).decisions
  const answered = (approval: object) => decisionsIn(call('c', 'approval-responded', { approval }))

  verifies('contract-15.ai-sdk', 'nothing but true approves, and a rejection keeps its reason', () => {
    expect(answered({ id: 'c', approved: true, reason: 'Fine.' })).toEqual([{ id: 'c', decision: 'approve' }])
    expect(answered({ id: 'c', approved: false, reason: 'No.' })).toEqual([
      { id: 'c', decision: 'reject', reason: 'No.' },
    ])
    for (const approved of [undefined, null, 'true', 1])
      expect(answered({ id: 'c', approved, reason: 7 })).toEqual([{ id: 'c', decision: 'reject' }])
  })

  verifies(['contract-15.ai-sdk', 'contract-35.digits'], 'a result is its text, or the JSON of its value', () => {
    const output = (json: string) => {
      const part = JSON.stringify(call('c', 'output-available', { output: 'OUTPUT' })).replace('"OUTPUT"', json)
      return read(`{"id":"chat","messages":[{"id":"R","role":"assistant","parts":[${part}]}]}`).decisions?.[0]?.output
    }
    expect([output('"plain"'), output('{"sky":"blue"}'), output('null')]).toEqual(['plain', '{"sky":"blue"}', 'null'])
    expect(output('{"max":12345678901234567890123}')).toBe('{"max":12345678901234567890123}')
    expect(output(JSON.stringify({ url: png }))).toBe(JSON.stringify({ url: png }))
    expect(decisionsIn(call('c', 'output-available'), call('d', 'output-error', { errorText: 'broke' }))).toEqual([
      { id: 'c', decision: 'respond', output: '' },
      { id: 'd', decision: 'respond', output: 'broke' },
    ])
    expect(decisionsIn(call('c', 'input-available'), { type: 'text', text: 'a' })).toEqual([])
  })

  verifies(
    'contract-15.ai-sdk',
    'results directly before the next message come with it, of calls that wait alone',
    () => {
      const made = (...messages: object[]) => {
        const { readMade } = read({ id, messages: [...messages, said('next')] })
        return readMade?.(new Set(['a', 'b']))
      }
      const results = reply(
        call('a', 'output-available', { output: 1 }),
        call('b', 'output-error', { errorText: 'broke' }),
        call('old', 'output-available', { output: 'no' }),
        call('c', 'approval-responded', { approval: { approved: true } }),
      )
      const own = [
        { id: 'a', decision: 'respond', output: '1' },
        { id: 'b', decision: 'respond', output: 'broke' },
      ]
      expect(made(results)).toEqual(own)
      expect(made(results, { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] })).toEqual(own)
      expect(made(results, said('lost'))).toBeUndefined()
      expect(made(reply(call('c', 'approval-responded', { approval: {} })))).toBeUndefined()
    },
  )
})
