/** Contract section 35: how many lists that live somebody follows at a time. */
import { afterAll, beforeAll, expect } from 'vitest'
import { call } from '../../http/scene.ts'
import { openSse, type SseStream } from '../../support/streams/sse.ts'
import { verifies } from '../../verifies.ts'
import { bearer, DEPLOY_KEY, type FrontDoor, openFrontDoor } from '../users/access/front-door-scene.ts'

let door: FrontDoor
const open = new Set<SseStream>()
beforeAll(async () => {
  door = await openFrontDoor()
})
afterAll(async () => {
  for (const stream of open) stream.leave()
  await door.close()
})

const path = (agent: string) => `${door.deploy(agent)}/sessions/stream`
async function follow(token: string, app = door.here, agent = door.agentId): Promise<SseStream> {
  const stream = await openSse(`${app.url}${path(agent)}`, undefined, bearer(token))
  open.add(stream)
  return stream
}
/** The status of one more list, which is not followed. */
async function oneMore(token: string, agent = door.agentId, app = door.here) {
  const { status, headers } = await call(`${app.url}${path(agent)}?last_event_id=none`, 'GET', undefined, bearer(token))
  return [status, headers.get('retry-after')]
}
const refused = [429, '1']
/** Its position is judged after its place. */
const taken = [400, null]

verifies('contract-35.live-lists', 'a user follows eight with an agent, and another when one has ended', async () => {
  const ann = await door.secret('ann')
  const streams = await Promise.all(Array.from({ length: 8 }, () => follow(ann)))
  expect(await oneMore(ann)).toEqual(refused)
  expect(await oneMore(await door.secret('ann'))).toEqual(refused)
  expect(await oneMore(await door.secret('ben'))).toEqual(taken)
  const other = await door.newAgent()
  expect(await oneMore(await door.secret('ann', {}, other), other)).toEqual(taken)
  expect(await oneMore(DEPLOY_KEY)).toEqual(taken)
  streams[0]?.leave()
  await expect.poll(() => oneMore(ann)).toEqual(taken)
})

verifies('contract-35.live-lists', 'they count on all instances together', async () => {
  const dora = await door.secret('dora')
  const there = await Promise.all(Array.from({ length: 4 }, () => follow(dora, door.there)))
  await Promise.all(Array.from({ length: 4 }, () => follow(dora)))
  expect(await oneMore(dora)).toEqual(refused)
  expect(await oneMore(dora, door.agentId, door.there)).toEqual(refused)
  there[0]?.leave()
  await expect.poll(() => oneMore(dora)).toEqual(taken)
})

verifies('contract-35.live-lists', 'a key follows sixty-four', async () => {
  await Promise.all(Array.from({ length: 64 }, () => follow(DEPLOY_KEY)))
  expect(await oneMore(DEPLOY_KEY)).toEqual(refused)
  expect(await oneMore(await door.secret('cleo'))).toEqual(taken)
})
