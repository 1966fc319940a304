/** How many lists that live somebody follows, on all instances together (contract section 35). */
import { afterAll, beforeAll, expect } from 'vitest'
import { createFollowers } from '../../../../src/features/live-lists/index.ts'
import { createFollowedStore, forgetFollowedLists } from '../../../../src/features/live-lists/store/followed-lists.ts'
import { openLateScene } from '../../../faults/late/late-scene.ts'
import { openScene, type Scene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { lose } from '../../continuation/store/handover-scene.ts'

const user = (id: string) => ({ kind: 'user' as const, id })
const eight = Array.from({ length: 8 })
const full = 'follows 8 lists'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

verifies('contract-35.live-lists', 'as many as may, of two that come at once on two instances', async () => {
  await using own = await openScene()
  const { sql, instance } = own
  const other = await own.another()
  const [here, there] = [instance, other.instance].map((one) => createFollowers(createFollowedStore(sql, one)))
  for (const _ of eight.slice(1)) await here?.enter(user('ann'))
  await sql`
    create function held() returns trigger language plpgsql as $$ begin
      perform pg_advisory_xact_lock_shared(1); return new; end $$`
  await sql`create trigger held before insert on followed_lists for each row execute function held()`
  let entering: Promise<unknown>[] = []
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(1)`
    entering = [here, there].map(async (one) => await one?.enter(user('ann')))
    await expect.poll(own.waiting).toBe(2)
  })
  const entered = await Promise.allSettled(entering)
  expect(entered.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

verifies('contract-35.live-lists', 'those of an instance that is lost count no more', async () => {
  const { instance: lost } = await scene.another()
  const [there, here] = [lost, scene.instance].map((one) => createFollowers(createFollowedStore(scene.sql, one)))
  for (const _ of eight) await there?.enter(user('ben'))
  await expect(here?.enter(user('ben'))).rejects.toThrow(full)
  await lose(scene, lost)
  for (const _ of eight) await here?.enter(user('ben'))
  await lose(scene, scene.instance)
  await forgetFollowedLists(scene.sql)
  expect(await scene.sql`select 1 from followed_lists where subject = 'user ben'`).toEqual([])
})

verifies('contract-35.late-writes', 'a list that is counted late is counted no more', async () => {
  await using late = await openLateScene()
  const { sql, instance } = late.scene
  const { instance: other } = await late.scene.another()
  const followers = createFollowers(createFollowedStore(late.lateSql, instance))
  const held = late.hold('follow_lists')
  await expect(followers.enter(user('cleo'))).rejects.toThrow()
  await held
  await followers.tend()
  await late.deliver()
  const elsewhere = createFollowers(createFollowedStore(sql, other))
  for (const _ of eight) await elsewhere.enter(user('cleo'))
  await expect(elsewhere.enter(user('cleo'))).rejects.toThrow(full)
})
