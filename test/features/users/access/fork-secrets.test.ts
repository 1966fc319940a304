/** Contract sections 11 and 14: what a client secret may turn and copy. */
import { afterAll, expect } from 'vitest'
import { verifies } from '../../../verifies.ts'
import { openFrontDoor, say } from './front-door-scene.ts'

const door = await openFrontDoor({ instances: 1 })
afterAll(door.close)

verifies(['contract-14.fork', 'contract-14.head'], 'its own user’s sessions alone', async () => {
  door.says('Fine.')
  const sessions = `${door.deploy()}/sessions`
  const ann = await door.secret('ann')
  const bob = await door.secret('bob')
  const { json: session } = await door.as(ann, 'POST', sessions, { metadata: { plan: 'gold' } })
  await door.as(ann, 'POST', `${sessions}/${session.id}/chat/completions`, say('hi'))
  const { head_id } = (await door.as(ann, 'GET', `${sessions}/${session.id}`)).json
  const fork = { fork_of: { session_id: session.id } }
  const { status, json } = await door.as(ann, 'POST', sessions, fork)
  expect([status, json]).toMatchObject([201, { user: 'ann', metadata: { plan: 'gold' } }])
  expect((await door.as(bob, 'POST', sessions, fork)).status).toBe(404)
  expect((await door.as(ann, 'POST', sessions, { ...fork, user: 'bob' })).status).toBe(403)
  const turn = (token: string) => door.as(token, 'POST', `${sessions}/${session.id}/head`, { message_id: head_id })
  expect([(await turn(ann)).status, (await turn(bob)).status]).toEqual([200, 404])
  const one = await door.secret('ann', { session_id: session.id })
  expect([(await turn(one)).status, (await door.as(one, 'POST', sessions, fork)).status]).toEqual([200, 403])
  // The deploy key gives a copy to whom it likes.
  expect((await door.asKey('POST', sessions, { ...fork, user: 'bob' })).json.user).toBe('bob')
  await door.asKey('POST', `${door.deploy()}/users/ann/revoke`)
  await expect.poll(async () => (await door.as(ann, 'POST', sessions, fork)).status).toBe(401)
})
