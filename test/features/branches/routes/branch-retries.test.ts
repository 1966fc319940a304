/** Contract section 14: what a retry joins where conversations have branches, and what the transitions say of them. */
import { afterAll, expect } from 'vitest'
import { openRepeatScene } from '../../../http/repeat-scene.ts'
import { verifies } from '../../../verifies.ts'

const { scene, contents, untilFollowed } = await openRepeatScene()
afterAll(scene.close)

const retry = { 'x-stainless-retry-count': '1' }

/** A session with one reply whose provider has said `Par` to another request and stands still. */
async function standingStill(extra: object, text = 'go') {
  const id = await scene.newSession()
  scene.says(['first'])
  await scene.send(id, 'go')
  const [asked, first] = await scene.messages(id)
  const next = scene.byHand()
  const stream = await scene.stream(id, text, extra)
  const up = await next
  await stream.next()
  await up.text('Par')
  await stream.next()
  const finish = async () => {
    await up.finish()
    await stream.rest()
  }
  return { id, asked, first, finish }
}

verifies('contract-14.retry', 'a retry with the same place joins; with another, or none, it does not', async () => {
  const cases: [object, object[]][] = [
    [{}, [{ parent_id: null }, { regenerate: true }]],
    [{ parent_id: null }, [{}, { regenerate: true }]],
    [{ regenerate: true }, [{}, { parent_id: null }]],
  ]
  for (const [extra, others] of cases) {
    const { id, asked, first, finish } = await standingStill(extra)
    const [named, byParent] = [{ regenerate: true, message_id: asked.id }, { parent_id: first.id }]
    for (const other of [...others, named, byParent]) {
      expect([extra, other, (await scene.send(id, 'go', other, retry)).status]).toEqual([extra, other, 409])
    }
    const again = scene.send(id, 'go', extra, retry)
    await untilFollowed(id, 2)
    await finish()
    expect((await again).json.choices[0].message.content).toBe('Par')
    const all = (await scene.call('GET', `${scene.sessions}/${id}/messages?branches=all`)).json.messages
    expect(all).toHaveLength('regenerate' in extra ? 3 : 4)
  }
})

verifies('contract-14.retry', 'a regenerate joins although nothing was sent beside it, and by its key', async () => {
  const { id, asked, finish } = await standingStill({})
  await finish()
  scene.says(['again'])
  const path = `${scene.sessions}/${id}/chat/completions`
  const named = { regenerate: true, message_id: asked.id.toUpperCase() }
  const answer = async (body: object, headers: Record<string, string>) => {
    const { status, json } = await scene.call('POST', path, body, headers)
    return [status, json.id ?? json.error.message]
  }
  const first = await answer(named, { 'idempotency-key': 'one' })
  expect(await answer(named, { 'idempotency-key': 'one' })).toEqual(first)
  expect(await answer({ regenerate: true }, { 'idempotency-key': 'one' })).toEqual([400, expect.any(String)])
  // It has ended, and its connection lived: it is not joined.
  expect(await answer(named, retry)).not.toEqual(first)
  await scene.app.sql`update messages set requester_lost = true where session_id = ${id}`
  const newest = (await scene.messages(id)).at(-1)
  expect(await answer({ ...named, message_id: asked.id }, retry)).toEqual([200, `chatcmpl-${newest.id}`])
  await scene.app.sql`
    update messages set created_at = created_at - interval '10 minutes 5 seconds' where session_id = ${id}`
  expect(await answer(named, retry)).not.toEqual([200, `chatcmpl-${newest.id}`])
})

verifies('contract-14.retry', 'a text is compared with the message that the newest reply answers', async () => {
  const { id, first, finish } = await standingStill({ parent_id: null }, 'edited')
  await finish()
  await scene.app.sql`update messages set requester_lost = true where session_id = ${id}`
  scene.says(['new'])
  // The path turns away from the newest reply; a retry of its request still finds it.
  await scene.call('POST', `${scene.sessions}/${id}/head`, { message_id: first.id })
  expect((await scene.send(id, 'edited', { parent_id: null }, retry)).json.choices[0].message.content).toBe('Par')
  expect(await contents(id)).toEqual(['go', 'first'])
  expect((await scene.send(id, 'go', { parent_id: null }, retry)).json.choices[0].message.content).toBe('new')
})

verifies(
  'contract-14.transitions',
  'a message says what it comes behind, another reply which message it answers',
  async () => {
    const { id, asked, first, finish } = await standingStill({ parent_id: null })
    await finish()
    scene.says(['again'])
    await scene.call('POST', `${scene.sessions}/${id}/chat/completions`, { regenerate: true, message_id: asked.id })
    await scene.send(id, 'on', { parent_id: first.id })
    const details = async () => {
      const { transitions } = (await scene.call('GET', `/api/v1/debug/sessions/${id}/transitions?limit=100`)).json
      return transitions
        .filter(({ event }: { event: string }) => event === 'message')
        .map((one: { detail: object }) => one.detail)
    }
    await expect
      .poll(details)
      .toEqual([
        { parentId: null },
        { parentId: null },
        { parentId: asked.id, regenerate: true },
        { parentId: first.id },
      ])
  },
)
