/** Contract section 13: parts of sessions' messages as they are compared, kept and sent again. */
import { afterAll, expect } from 'vitest'
import { tidyContents } from '../../../../src/features/parts/store/parts.ts'
import { tidyReplies } from '../../../../src/features/sessions/store/housekeeping.ts'
import { openRepeatScene } from '../../../http/repeat-scene.ts'
import { contentOf } from '../../../support/streams/sse.ts'
import { verifies } from '../../../verifies.ts'
import { dataUrl, file, image, pdf, png, pngOf, sha256, text } from './parts-scene.ts'

const { scene, untilFollowed } = await openRepeatScene({ settings: {} })
afterAll(scene.close)
scene.says(['ok'])

const MIB = 2 ** 20
const completions = (id: string) => `${scene.sessions}/${id}/chat/completions`
const send = (id: string, content: object[], extra: object = {}, headers: Record<string, string> = {}) =>
  scene.call('POST', completions(id), { messages: [{ role: 'user', content }], ...extra }, headers)
const sentMessages = () => scene.up.calls.at(-1)?.body.messages
const other = png({ text: 'other' })

async function stored(): Promise<{ contents: number; pieces: number; uploads: number }> {
  const [row] = await scene.app.sql`
    select (select count(*)::integer from part_contents) as contents, (select count(*)::integer from part_pieces) as pieces,
           (select count(*)::integer from part_uploads) as uploads`
  return row as { contents: number; pieces: number; uploads: number }
}

verifies('contract-13.part-identity', 'a key is held to the bytes of its body', async () => {
  const id = await scene.newSession()
  const key = { 'idempotency-key': 'k' }
  const first = await send(id, [image(), text('a')], {}, key)
  const same = await send(id, [image(), text('a')], {}, key)
  const differs = await send(id, [image(other), text('a')], {}, key)
  expect([first.status, same.status, differs.status]).toEqual([200, 200, 400])
  expect([same.json.id, (await scene.messages(id)).length]).toEqual([first.json.id, 2])
})

verifies('contract-13.part-identity', "clients' own retries join the reply of the same text and parts", async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const whole = send(id, [text('a'), image()])
  const up = await next
  const retry = { 'x-stainless-retry-count': '1' }
  expect((await send(id, [text('a'), image(other)], {}, retry)).status).toBe(409)
  expect((await send(id, [text('a')], {}, retry)).status).toBe(409)
  expect((await send(id, [text('a'), image(), image()], {}, retry)).status).toBe(409)
  const joined = send(id, [text('a'), image()], {}, retry)
  await untilFollowed(id, 2)
  await up.text('once')
  await up.finish()
  expect([(await joined).json.choices[0].message.content, (await whole).status]).toEqual(['once', 200])
  expect((await scene.messages(id)).length).toBe(2)
  scene.says(['ok'])
})

verifies(
  'contract-13.part-identity',
  'a question whose reply failed empty is sent once when it comes again',
  async () => {
    const id = await scene.newSession()
    const fails = () => scene.up.next((call) => call.error(400, { error: { message: 'no' } }))
    fails()
    await send(id, [text('a'), image()])
    fails()
    await send(id, [text('a'), image(other)])
    await send(id, [text('a'), image(other)])
    expect(sentMessages()).toEqual([
      {
        role: 'user',
        content: [
          text('a'),
          { type: 'image_url', image_url: { url: dataUrl('image/png', png()) } },
          text('\n\n'),
          text('a'),
          { type: 'image_url', image_url: { url: dataUrl('image/png', other) } },
        ].filter((part) => !('text' in part) || part.text.trim() !== ''),
      },
    ])
  },
)

verifies(
  'contract-13.part-history',
  'earlier turns send their parts again, and so does another reply to one',
  async () => {
    const id = await scene.newSession()
    await send(id, [text('one'), image()])
    await send(id, [file(pdf(), 'application/pdf', 'a.pdf'), text('two'), image(other)])
    const contents = () => sentMessages().map(({ content }: { content: unknown }) => content)
    const picture = (bytes: Uint8Array) => ({ type: 'image_url', image_url: { url: dataUrl('image/png', bytes) } })
    const document = { type: 'file', file: { filename: 'a.pdf', file_data: dataUrl('application/pdf', pdf()) } }
    expect(contents()).toEqual([[text('one'), picture(png())], 'ok', [document, text('two'), picture(other)]])
    const [, , second] = await scene.messages(id)
    const again = await scene.call('POST', completions(id), { regenerate: true, message_id: second.id })
    expect([again.status, contents()]).toEqual([
      200,
      [[text('one'), picture(png())], 'ok', [document, text('two'), picture(other)]],
    ])
  },
)

verifies(
  'contract-13.part-history',
  'they do so within 20 MiB, the newest first; of others the model is told',
  async () => {
    const big = image(pngOf(11 * MIB))
    const messages = [
      { role: 'user', content: [text('one'), file(pdf(), 'application/pdf', 'a.pdf'), big] },
      { role: 'assistant', content: 'Seen.' },
      { role: 'user', content: [big] },
      { role: 'assistant', content: 'Seen.' },
      { role: 'user', content: [image(), text('And now?')] },
    ]
    expect((await scene.stateless(messages)).status).toBe(200)
    const [first, , second] = sentMessages()
    expect(first.content.replace(/\s+/g, ' ')).toBe(
      'one [A file stood here: a.pdf, application/pdf] [A picture stood here: image/png]',
    )
    expect(second.content.map(({ type }: { type: string }) => type)).toEqual(['image_url'])
  },
)

verifies('contract-13.part-storage', 'bytes are stored once and go with the last message that has them', async () => {
  await scene.app.sql`select delete_sessions(agent_id, array[id]) from sessions`
  await expect.poll(stored).toEqual({ contents: 0, pieces: 0, uploads: 0 })
  const ids = [await scene.newSession(), await scene.newSession()]
  const big = pngOf(MIB)
  for (const id of ids) await send(id, [image(), image(big), image()])
  await expect.poll(stored).toEqual({ contents: 2, pieces: 7, uploads: 0 })
  await scene.call('DELETE', `${scene.sessions}/${ids[0]}`)
  expect(await stored()).toEqual({ contents: 2, pieces: 7, uploads: 0 })
  const [message] = await scene.messages(ids[1] ?? '')
  const read = await fetch(`${scene.app.url}${message.parts[1].url}`)
  expect(Buffer.from(await read.arrayBuffer()).equals(big)).toBe(true)
  // A content that a request is about to refer to stays.
  await scene.app
    .sql`insert into part_uploads select ${crypto.randomUUID()}, sha256 from part_contents where size < 1000`
  await scene.call('DELETE', `${scene.sessions}/${ids[1]}`)
  expect(await stored()).toEqual({ contents: 1, pieces: 1, uploads: 1 })
  for (const [minutes, left] of [
    [59, 1],
    [2, 0],
  ] as const) {
    await scene.app.sql`update part_uploads set at = at - make_interval(mins => ${minutes})`
    await tidyContents(scene.app.sql)
    expect(await stored()).toEqual({ contents: left, pieces: left, uploads: left })
  }
})

verifies(
  'contract-26.contents-apart',
  'what another user has sent is stored anew, and what oneself has is not',
  async () => {
    await scene.app.sql`select delete_sessions(agent_id, array[id]) from sessions`
    const of = async (user: string | null) => (await scene.call('POST', scene.sessions, { user })).json.id
    const content = [image(pngOf(MIB))]
    const contents = async () => (await stored()).contents
    for (const [user, count] of [
      ['anna', 1],
      ['anna', 1],
      ['berta', 2],
      [null, 3],
      [null, 3],
    ] as const) {
      expect((await send(await of(user), content)).status).toBe(200)
      expect([user, await contents()]).toEqual([user, count])
    }
    // By their own secret it is the same user's.
    const { value } = (await scene.call('POST', `${scene.agent}/deploy/client_secrets`, { user: 'anna' })).json
    expect((await send(await of('anna'), content, {}, { authorization: `Bearer ${value}` })).status).toBe(200)
    expect(await contents()).toBe(3)
    // A copy for somebody else reads what it has, until the last message that has it is gone.
    const from = await of('anna')
    await send(from, content)
    const copy = (await scene.call('POST', scene.sessions, { user: 'clara', fork_of: { session_id: from } })).json.id
    await scene.app.sql`select delete_sessions(agent_id, array[id]) from sessions where end_user = 'anna'`
    const [message] = await scene.messages(copy)
    expect((await fetch(`${scene.app.url}${message.parts[0].url}`)).status).toBe(200)
    await scene.app.sql`select delete_sessions(agent_id, array[id]) from sessions`
    await expect.poll(stored).toEqual({ contents: 0, pieces: 0, uploads: 0 })
  },
)

verifies('contract-13.part-storage', 'parts of before are read, copied and removed under their SHA-256', async () => {
  const id = await scene.newSession()
  const picture = pngOf(MIB)
  await send(id, [image(picture)])
  await scene.app.sql.begin(async (tx) => {
    await tx`insert into part_contents select decode(${sha256(picture)}, 'hex'), size from part_contents`
    await tx`insert into part_pieces select decode(${sha256(picture)}, 'hex'), n, bytes from part_pieces`
    await tx`update message_parts set stored_as = null`
    await tx`delete from part_contents where sha256 <> decode(${sha256(picture)}, 'hex')`
  })
  const copy = (await scene.call('POST', scene.sessions, { fork_of: { session_id: id } })).json.id
  for (const [session, left] of [
    [id, 1],
    [copy, 0],
  ] as const) {
    const [message] = await scene.messages(session)
    const read = await fetch(`${scene.app.url}${message.parts[0].url}`)
    expect(Buffer.from(await read.arrayBuffer()).equals(picture)).toBe(true)
    await scene.call('DELETE', `${scene.sessions}/${session}`)
    expect((await stored()).contents).toBe(left)
  }
})

verifies(
  'contract-13.part-storage',
  'a refused message leaves nothing; users and retention take theirs along',
  async () => {
    const id = await scene.newSession()
    const next = scene.byHand()
    const running = send(id, [text('a')])
    const up = await next
    expect((await send(id, [image()])).status).toBe(409)
    expect(
      (await scene.call('POST', completions(crypto.randomUUID()), { messages: [{ role: 'user', content: [image()] }] }))
        .status,
    ).toBe(404)
    expect(await stored()).toEqual({ contents: 0, pieces: 0, uploads: 0 })
    await up.finish()
    await running
    scene.says(['ok'])
    const { json: session } = await scene.call('POST', scene.sessions, { user: 'u' })
    await send(session.id, [image()])
    await scene.call('DELETE', `${scene.agent}/deploy/users/u`)
    await expect.poll(stored).toEqual({ contents: 0, pieces: 0, uploads: 0 })
    await send(id, [image()])
    await scene.app.sql`update sessions set updated_at = updated_at - interval '2 days'`
    await expect.poll(async () => (await stored()).uploads).toBe(0)
    await tidyReplies(scene.app.sql, 1)
    expect(await stored()).toEqual({ contents: 0, pieces: 0, uploads: 0 })
  },
)

verifies('contract-13.part-identity', 'on_busy interrupts for a message with parts too', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const first = scene.stream(id, 'go')
  await next
  scene.says(['second'])
  const second = await send(id, [image()], { on_busy: 'interrupt' })
  expect([second.json.choices[0].message.content, contentOf((await (await first).rest()).frames)]).toEqual([
    'second',
    '',
  ])
  expect((await scene.messages(id)).map(({ finish_reason }) => finish_reason)).toEqual([
    null,
    'cancelled',
    null,
    'stop',
  ])
})

verifies('contract-13.parts', 'what a model was sent is shown with the SHA-256 of their bytes', async () => {
  const id = await scene.newSession()
  await send(id, [text('Look at this picture'), image()])
  const [, reply] = await scene.messages(id)
  const path = `/api/v1/debug/replies/${reply.id}/requests`
  await expect.poll(async () => (await scene.call('GET', path)).json.requests?.length).toBe(1)
  const [{ body }] = (await scene.call('GET', path)).json.requests
  const url = `data:image/png;base64,sha256:${sha256(png())}`
  expect(body.messages[0].content).toEqual([text('Look at this picture'), { type: 'image_url', image_url: { url } }])
})

verifies('contract-13.part-storage', 'a fork has them too, and keeps their bytes', async () => {
  const id = await scene.newSession()
  await send(id, [text('one'), image()])
  await send(id, [text('two'), image(other)])
  const fork = await scene.call('POST', scene.sessions, { fork_of: { session_id: id } })
  await scene.call('DELETE', `${scene.sessions}/${id}`)
  const copies = await scene.messages(fork.json.id)
  expect(copies.map(({ parts }) => parts?.length ?? 0)).toEqual([1, 0, 1, 0])
  const read = await fetch(`${scene.app.url}${copies[2].parts[0].url}`)
  expect(Buffer.from(await read.arrayBuffer()).equals(other)).toBe(true)
})
