/** Contract section 28: who runs a case, whatever instances do at the same moment. */
import { expect } from 'vitest'
import { createCases } from '../../../src/features/replays/store/cases.ts'
import { createReplay } from '../../../src/features/replays/store/replays.ts'
import { finished, type Instance, openScene, type Scene } from '../../persistence/scene.ts'
import { verifies } from '../../verifies.ts'

const casesOf = ({ sql }: Scene, { id, epoch }: Instance) => createCases(sql, () => ({ id, epoch: epoch() }))

/** A replay of as many replies, each of its own session, that runs one case at a time. */
async function newReplay(scene: Scene, count: number): Promise<string> {
  const { sql, agentId, journal } = scene
  const replies: string[] = []
  for (let n = 0; n < count; n++) {
    const reply = await scene.begin(await scene.newSession())
    await journal.settle(reply, finished())
    replies.push(reply.id)
  }
  const given = { agentId, version: 1, held: {}, concurrency: 1, createdBy: null, replies }
  return (await sql.begin((tx) => createReplay(tx, given))).id
}

const statesOf = async ({ sql }: Scene, replayId: string) =>
  (
    await sql<{ status: string; losses: number }[]>`
    select status, losses from replay_cases where replay_id = ${replayId} order by place`
  ).map(({ status, losses }) => [status, losses])

verifies('contract-28.replay-lost', 'a case that another instance has run meanwhile is not taken again', async () => {
  await using scene = await openScene()
  const replayId = await newReplay(scene, 1)
  const ended = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const running = scene.sql.begin(async (tx) => {
    await tx`update replay_cases set status = 'complete' where replay_id = ${replayId}`
    held.resolve()
    await ended.promise
  })
  await held.promise
  // It still sees a case that waits, and waits for its row.
  const taken = casesOf(scene, scene.instance).take()
  await expect.poll(scene.waiting).toBe(1)
  ended.resolve()
  await running
  expect(await taken).toBeNull()
  expect(await statesOf(scene, replayId)).toEqual([['complete', 0]])
})

verifies('contract-28.replay-lost', 'a case that an instance took without learning of it begins anew', async () => {
  await using scene = await openScene()
  const replayId = await newReplay(scene, 2)
  const here = casesOf(scene, scene.instance)
  const { instance } = await scene.another()
  const there = casesOf(scene, instance)
  const taken = await here.take()
  expect(await there.take()).toBeNull()
  await here.tend(taken ? [taken] : [])
  await there.tend([])
  expect(await statesOf(scene, replayId)).toEqual([
    ['running', 0],
    ['pending', 0],
  ])
  await here.tend([])
  const again = await there.take()
  expect(again).toMatchObject({ messageId: taken?.messageId, losses: 1 })
  // A late end of the first run changes nothing.
  const nothing = { status: 'complete', old: null, new: null, divergence: null, error: null } as const
  if (taken) await Promise.all([here.end(taken, nothing), here.giveBack(taken)])
  expect((await statesOf(scene, replayId))[0]).toEqual(['running', 1])
})
