/** Contract section 14: sessions that begin with a copy of another one's path. */
import { afterAll, expect } from 'vitest'
import { nobody, openScene } from '../../../http/scene.ts'
import { createAgent } from '../../../support/app.ts'
import { refusedRequest } from '../../../support/network/refused-request.ts'
import { verifies } from '../../../verifies.ts'

const scene = await openScene()
afterAll(scene.close)

let replies = 0
const answering = () =>
  scene.up.always(async (one) => {
    replies += 1
    await one.text(`reply ${replies}`)
    await one.finish()
  })
answering()
const sent = () => scene.up.calls.at(-1)?.body.messages.map(({ content }: { content: string }) => content)

const create = (body: unknown) => scene.call('POST', scene.sessions, body)
const contents = async (id: string) => (await scene.messages(id)).map(({ content }) => content)

/** a → 1 → b → 2, with an edited c → 3 beside b. */
async function talk(made: object = {}) {
  const { id } = (await create(made)).json
  replies = 0
  for (const [text, place] of [
    ['a', {}],
    ['b', {}],
  ] as const)
    await scene.send(id, text, place)
  const [a, one, b, two] = await scene.messages(id)
  await scene.send(id, 'c', { parent_id: one.id })
  const [, , c, three] = await scene.messages(id)
  return { id, a, one, b, two, c, three }
}

verifies(
  'contract-14.fork',
  'the path up to a message of any branch, its head, or a user’s message, is copied',
  async () => {
    const { id, one, b, two, three } = await talk()
    for (const [fork, copied, last] of [
      [{}, ['a', 'reply 1', 'c', 'reply 3'], three.id],
      [{ message_id: null, frame_id: null }, ['a', 'reply 1', 'c', 'reply 3'], three.id],
      [{ message_id: two.id.toUpperCase() }, ['a', 'reply 1', 'b', 'reply 2'], two.id],
      [{ message_id: b.id }, ['a', 'reply 1', 'b'], b.id],
      [{ message_id: one.id }, ['a', 'reply 1'], one.id],
    ] as const) {
      const { status, json } = await create({ fork_of: { session_id: id, ...fork } })
      expect([status, json.forked_from]).toEqual([201, { session_id: id, message_id: last, frame_id: null }])
      const messages = await scene.messages(json.id)
      expect(messages.map(({ content }) => content)).toEqual(copied)
      expect(messages.at(-1).id).toBe(json.head_id)
      expect(messages.map(({ parent_id }) => parent_id)).toEqual([null, ...messages.map(({ id }) => id)].slice(0, -1))
      const all = (await scene.call('GET', `${scene.sessions}/${id}/messages?branches=all`)).json.messages
      const places = new Set(['id', 'session_id', 'parent_id'])
      for (const copy of messages) {
        const original = all.find(({ content }: { content: string }) => content === copy.content)
        for (const [field, value] of Object.entries(original)) {
          if (places.has(field)) expect(copy[field]).not.toBe(value ?? 'a first one')
          else expect([field, copy[field]]).toEqual([field, value])
        }
      }
    }
    expect(await contents(id)).toEqual(['a', 'reply 1', 'c', 'reply 3'])
  },
)

verifies(
  'contract-14.fork-record',
  'its frames begin at 1, it rests in idle, and the model gets what was copied',
  async () => {
    const { id, two } = await talk()
    const { json: fork } = await create({ fork_of: { session_id: id.toUpperCase(), message_id: two.id } })
    expect(fork.forked_from.session_id).toBe(id)
    expect((await scene.resume(fork.id)).status).toBe(204)
    const listed = async () =>
      (await scene.call('GET', '/api/v1/sessions')).json.sessions.find((one: { id: string }) => one.id === fork.id)
        .status
    expect(await listed()).toBe('idle')
    // A retry has nothing to join: the copied reply is none of the session's own.
    const retry = { 'x-stainless-retry-count': '1' }
    await scene.send(fork.id, 'b', {}, retry)
    expect(sent()).toEqual(['a', 'reply 1', 'b', 'reply 2', 'b'])
    expect(await contents(fork.id)).toEqual(['a', 'reply 1', 'b', 'reply 2', 'b', `reply ${replies}`])
    expect(await listed()).toBe('complete')
    const { frames } = await (await scene.resume(fork.id)).rest()
    expect(frames[0]?.id).toBe('1')
    const { transitions } = (await scene.call('GET', `/api/v1/debug/sessions/${fork.id}/transitions`)).json
    expect(transitions[0]).toMatchObject({ from: 'idle', event: 'message', detail: { parentId: fork.head_id } })
    // Its own branches grow from copies too.
    const [a] = await scene.messages(fork.id)
    await scene.call('POST', `${scene.sessions}/${fork.id}/chat/completions`, { regenerate: true, message_id: a.id })
    expect(await contents(fork.id)).toEqual(['a', `reply ${replies}`])
    expect(await contents(id)).toHaveLength(4)
  },
)

verifies(
  'contract-14.fork-record',
  'title, user and metadata are its own, else the parent’s; the parent may go',
  async () => {
    const { id, three } = await talk({ title: 'Mine', user: 'ann', metadata: { plan: 'gold' } })
    const { json: same } = await create({ fork_of: { session_id: id } })
    expect(same).toMatchObject({ title: 'Mine', user: 'ann', metadata: { plan: 'gold' } })
    const own = { title: 'Other', user: 'bob', metadata: {}, id: nobody.replace('1', 'a') }
    expect((await create({ ...own, fork_of: { session_id: id } })).json).toMatchObject(own)
    expect((await create({ ...own, fork_of: { session_id: id } })).status).toBe(409)
    await scene.call('DELETE', `${scene.sessions}/${id}`)
    expect((await scene.call('GET', `${scene.sessions}/${same.id}`)).json).toEqual(same)
    expect(same.forked_from).toEqual({ session_id: id, message_id: three.id, frame_id: null })
    const empty = await scene.newSession()
    const { json } = await create({ fork_of: { session_id: empty } })
    expect(json).toMatchObject({ head_id: null, forked_from: { session_id: empty, message_id: null, frame_id: null } })
    expect(await contents(json.id)).toEqual([])
  },
)

verifies('contract-14.fork', 'at a frame: what a reader had seen; the role frame alone is an empty reply', async () => {
  const id = await scene.newSession()
  const next = scene.byHand()
  const stream = await scene.stream(id, 'go')
  const call = await next
  await stream.next()
  for (const text of ['Par', 'ti', 'al']) {
    await call.text(text)
    await stream.next()
  }
  const running = (await scene.messages(id)).at(-1)
  const at = async (frame_id: number | undefined, message_id = running.id) => {
    const { status, json } = await create({ fork_of: { session_id: id, message_id, frame_id } })
    expect([status, json.forked_from?.frame_id]).toEqual([201, frame_id ?? null])
    const copy = (await scene.messages(json.id)).at(-1)
    return [copy.content, copy.status, copy.finish_reason]
  }
  for (const [frame, text] of [
    [1, ''],
    [2, 'Par'],
    [3, 'Parti'],
    [4, 'Partial'],
    [9, 'Partial'],
    [undefined, 'Partial'],
  ] as const)
    expect([frame, await at(frame)]).toEqual([frame, [text, 'complete', 'cancelled']])
  await call.finish('length')
  const { frames } = await stream.rest()
  expect(await at(3)).toEqual(['Parti', 'complete', 'cancelled'])
  for (const frame of [4, Number(frames.at(-1)?.id), 1e9, undefined])
    expect([frame, await at(frame)]).toEqual([frame, ['Partial', 'complete', 'length']])
  expect((await scene.messages(id)).at(-1)).toMatchObject({ content: 'Partial', finish_reason: 'length' })
  answering()
})

verifies('contract-14.fork', 'a reply that failed is copied as it is, or cancelled before its end', async () => {
  const id = await scene.newSession()
  scene.up.always(async (one) => {
    await one.text('so far')
    await one.data({ error: { message: 'out of order' } })
    one.end()
  })
  await (await scene.stream(id, 'go')).rest()
  answering()
  const copyOf = async (fork: object) =>
    (await scene.messages((await create({ fork_of: { session_id: id, ...fork } })).json.id)).at(-1)
  expect(await copyOf({})).toMatchObject({ content: 'so far', status: 'error', finish_reason: 'error' })
  expect(await copyOf({ frame_id: 1 })).toMatchObject({ content: '', status: 'complete', finish_reason: 'cancelled' })
})

verifies('contract-14.fork', 'what cannot be copied is 400, what the caller may not read 404', async () => {
  const { id, a, one, two } = await talk()
  const given = (await create({ messages: [{ role: 'assistant', content: 'Hi' }] })).json
  const copy = (await create({ fork_of: { session_id: id } })).json
  for (const [fork, field] of [
    [{ session_id: id, message_id: nobody }, 'fork_of.message_id'],
    [{ session_id: id, message_id: 'no-uuid' }, 'fork_of.message_id'],
    [{ session_id: id, message_id: given.head_id }, 'fork_of.message_id'],
    [{ session_id: id, message_id: a.id, frame_id: 1 }, 'fork_of.frame_id'],
    [{ session_id: id, message_id: one.id, frame_id: 0 }, 'fork_of.frame_id'],
    [{ session_id: id, message_id: two.id, frame_id: 1 }, 'fork_of.frame_id'],
    [{ session_id: given.id, frame_id: 1 }, 'fork_of.frame_id'],
    [{ session_id: copy.id, frame_id: 1 }, 'fork_of.frame_id'],
    [{ session_id: await scene.newSession(), frame_id: 1 }, 'fork_of.frame_id'],
    [{ session_id: id, frame_id: -1 }, 'fork_of.frame_id'],
    [{ session_id: id, frame_id: 1.5 }, 'fork_of.frame_id'],
    [{ session_id: id, frame_id: '1' }, 'fork_of.frame_id'],
    [{ message_id: a.id }, 'fork_of.session_id'],
    [[], 'fork_of'],
  ] as const) {
    const { status, json } = await create({ fork_of: fork })
    expect([fork, status, json]).toEqual([fork, 400, refusedRequest(field)])
  }
  for (const messages of [[], [{ role: 'user', content: 'x' }]]) {
    const { status, json } = await create({ fork_of: { session_id: id }, messages })
    expect([messages, status, json]).toEqual([messages, 400, refusedRequest('messages')])
  }
  for (const session_id of [nobody, 'no-uuid', '']) {
    expect([session_id, (await create({ fork_of: { session_id } })).status]).toEqual([session_id, 404])
  }
  const { agentId } = await createAgent(scene.app)
  const elsewhere = `/api/v1/agents/${agentId}/deploy/sessions`
  expect((await scene.call('POST', elsewhere, { fork_of: { session_id: id } })).status).toBe(404)
  expect((await create({ fork_of: null })).json.forked_from).toBeNull()
})
