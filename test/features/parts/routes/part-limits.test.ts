/** Contract section 13: how much of pictures and files a message holds, and all requests together. */
import { request } from 'node:http'
import { afterAll, expect } from 'vitest'
import { heldBytes } from '../../../../src/http/server/request-body/shares.ts'
import { openScene } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { file, image, png, pngOf, text } from './parts-scene.ts'

const scene = await openScene({ settings: { MAX_BODY_BYTES: '20000' } })
afterAll(scene.close)
scene.says(['ok'])

const MIB = 2 ** 20
const path = `${scene.agent}/deploy/chat/completions`
const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const post = async (body: object) => (await scene.call('POST', path, body)).status

verifies('contract-13.part-limits', '20 parts a message, texts included', async () => {
  const parts = Array.from({ length: 10 }, () => [text('a'), image()]).flat()
  expect([await post(user(...parts)), await post(user(...parts, text('b')))]).toEqual([200, 413])
  expect(await post({ messages: [...user(...parts).messages, ...user(...parts).messages] })).toBe(200)
  expect(await post(user(...Array.from({ length: 21 }, () => text('a'))))).toBe(413)
})

verifies(
  'contract-13.part-limits',
  '20 MiB of decoded bytes a message, beside MAX_BODY_BYTES for the rest',
  async () => {
    expect(await post(user(image(pngOf(19 * MIB)), file(Buffer.alloc(MIB, 'a'), 'text/plain')))).toBe(200)
    expect(await post(user(file(Buffer.alloc(20 * MIB + 1, 'a'), 'text/plain')))).toBe(413)
    expect([
      await post(user(text('a'.repeat(19_000)), image(pngOf(100_000)))),
      await post(user(text('a'.repeat(20_000)), image())),
    ]).toEqual([200, 413])
    await expect.poll(heldBytes).toBe(0)
  },
)

verifies('contract-13.part-limits', 'a data: URL in another field stays text, and counts as such', async () => {
  const tool = (url: string) => ({ type: 'function', function: { name: 'look', parameters: { examples: [{ url }] } } })
  const given = user(text('a'), image())
  const url = image(pngOf(9000)).image_url.url
  expect(await post({ ...given, tools: [tool(url)] })).toBe(200)
  const sent = scene.up.calls.at(-1)?.body
  expect(sent.tools[0].function.parameters.examples).toEqual([{ url }])
  expect(sent.messages[0].content[1]).toEqual(image())
  expect(await post({ ...given, tools: [tool(image(pngOf(16_000)).image_url.url)] })).toBe(413)
  expect(await post({ ...given, tools: [tool('data:image/png;base64,@@')] })).toBe(400)
})

verifies(
  ['contract-13.part-limits', 'contract-24.fields', 'contract-24.session-fields'],
  'so it does in the schema and the metadata of a response, and in those of a conversation',
  async () => {
    const { url } = image().image_url
    const metadata = { url, image_url: 'data:text/plain;base64,aGk=' }
    const format = { type: 'json_schema', name: 'it', schema: { type: 'object', examples: [{ url }] } }
    const response = await scene.call('POST', `${scene.agent}/deploy/responses`, {
      input: 'a',
      text: { format },
      metadata,
    })
    expect([response.status, response.json.metadata, response.json.text.format]).toEqual([200, metadata, format])
    expect(scene.up.calls.at(-1)?.body.response_format.json_schema.schema).toEqual(format.schema)
    const conversation = (given: object) =>
      scene.call('POST', `${scene.agent}/deploy/conversations`, { metadata: given })
    expect((await conversation(metadata)).json.metadata).toEqual(metadata)
    // It is as long as it was sent, and metadata holds 512 characters at most.
    expect((await conversation({ url: image(pngOf(600)).image_url.url })).status).toBe(400)
  },
)

verifies('contract-26.data-urls', 'the 201st data: URL is 413, wherever it stands', async () => {
  const given = (count: number) => ({ ...user(text('a')), x: Array(count).fill({ url: 'data:;base64,AA==' }) })
  expect(await post(given(200))).toBe(200)
  expect(await post(given(201))).toBe(413)
  expect(await post({ x: Array(201).fill({ url: 'data:image/png;base64,@' }) })).toBe(413)
})

verifies(
  ['contract-13.part-limits', 'contract-26.shares'],
  'what one holds together is limited: 503 with Retry-After; that of others and small bodies pass',
  async () => {
    const stalled = Array.from({ length: 12 }, () => begin(17 * MIB))
    let left = stalled.length
    for (const one of stalled) one.once('close', () => left--)
    // All grow at first. Once ten are refused, two stay with what they have.
    await expect.poll(() => [left, Math.round(heldBytes() / MIB)]).toEqual([2, 34])
    const refused = await scene.call('POST', path, user(image(pngOf(15 * MIB))))
    expect([refused.status, refused.headers.get('retry-after'), typeof refused.json.error]).toEqual([
      503,
      '2',
      'string',
    ])
    expect(await post(user(image(png())))).toBe(200)
    const value = (await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'anna' })).json.value
    const session = await scene.call('POST', `${scene.agent}/deploy/sessions`, { user: 'anna' })
    const sent = await scene.call(
      'POST',
      `${scene.agent}/deploy/sessions/${session.json.id}/chat/completions`,
      user(image(pngOf(15 * MIB))),
      { authorization: `Bearer ${value}` },
    )
    expect(sent.status).toBe(200)
    for (const one of stalled) one.destroy()
    await expect.poll(heldBytes).toBe(0)
    expect(await post(user(image(pngOf(7 * MIB))))).toBe(200)
  },
)

/** A request that stops with so many bytes of a picture. */
function begin(bytes: number) {
  const one = request(`${scene.app.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' } })
  one.on('error', () => {})
  one.write(`{"url":"data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}`)
  return one
}

verifies('contract-13.part-limits', 'what a request has brought is let go of when it breaks off', async () => {
  const one = begin(3 * MIB)
  await expect.poll(() => Math.round(heldBytes() / MIB)).toBe(3)
  one.destroy()
  await expect.poll(heldBytes).toBe(0)
})
