/** What a reply was told of its session at its admission goes with it to another instance (contract sections 20 and 21). */
import { expect } from 'vitest'
import type { NewMessage } from '../../../../src/actors/ports/index.ts'
import { createHandovers } from '../../../../src/features/continuation/store/handovers.ts'
import { finished, openScene, type Scene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'
import { queuedInput } from '../../queue/store/queued-scene.ts'
import { facts } from './handover-scene.ts'

const told = { user: 'ann', metadata: { plan: 'gold' } }

async function toldSession({ sql, agentId }: Scene): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into sessions (agent_id, end_user, metadata) values (${agentId}, 'ann', '{"plan": "gold"}') returning id`
  return row?.id ?? ''
}

/** Each way in which a message is admitted; resolves to the id of its reply. */
const ways: Record<string, (scene: Scene, wanted: Partial<NewMessage>) => Promise<string>> = {
  async alone(scene, wanted) {
    return (await scene.begin(await toldSession(scene), wanted)).id
  },
  async 'with others'(scene, wanted) {
    const message = scene.message(await toldSession(scene), wanted)
    // They gather while another one is under way.
    const first = scene.journal.admit(scene.message(await scene.newSession()))
    const others = [message, scene.message(await scene.newSession())].map((one) => scene.journal.admit(one))
    await first
    expect((await Promise.all(others)).map(({ outcome }) => outcome)).toEqual(['admitted', 'admitted'])
    return message.replyId
  },
  async 'from the queue'(scene, wanted) {
    await scene.sql`update instances set begins_queued = true`
    const running = await scene.begin(await toldSession(scene))
    const message = scene.message(running.sessionId, {
      ...wanted,
      onBusy: 'enqueue',
      mayQueue: true,
      queue: queuedInput,
    })
    expect(await scene.journal.admit(message)).toMatchObject({ outcome: 'queued' })
    expect(await scene.journal.settle(running, finished())).toMatchObject({ next: message.replyId })
    await scene.sql`update queued_messages set taken = true`
    return message.replyId
  },
}

const change = ({ sql }: Scene) => sql`update sessions set metadata = '{"plan": "free"}' where end_user = 'ann'`

async function claim(scene: Scene, replyId: string) {
  await scene.sql`update instances set epoch = epoch + 1 where id = ${scene.instance.id}`
  const { instance } = await scene.another()
  return await createHandovers({ sql: scene.sql, untimedSql: scene.sql, instance, withinS: 600, waitMs: 1000 }).claim(
    replyId,
  )
}

for (const [way, admit] of Object.entries(ways)) {
  verifies(
    ['contract-20.admission', 'contract-21.stored'],
    `admitted ${way}, it is told the same elsewhere`,
    async () => {
      await using scene = await openScene()
      await scene.sql`update agents set on_loss = 'continue'`
      const replyId = await admit(scene, { facts, usesValues: true })
      await change(scene)
      expect((await claim(scene, replyId))?.values).toEqual(told)
    },
  )
}

verifies(
  ['contract-20.admission', 'contract-21.stored'],
  'an admission whose answer was lost tells the same once more, and nothing of it is kept behind the end',
  async () => {
    await using scene = await openScene()
    const sessionId = await toldSession(scene)
    const message = scene.message(sessionId, { facts, usesValues: true })
    const { sql, journal } = scene
    const first = await journal.admit(message)
    await change(scene)
    expect(await journal.admit(message)).toEqual(first)
    if (first.outcome !== 'admitted') throw new Error('It was not admitted.')
    await journal.settle(first.reply, finished())
    const [row] = await sql<{ kept: string[] }[]>`
      select array(select jsonb_object_keys(facts)) as kept from messages where id = ${message.replyId}`
    expect(row?.kept).not.toContain('values')
  },
)

verifies(
  'contract-21.stored',
  'one that was told nothing stores nothing of it, and is told what holds now',
  async () => {
    await using scene = await openScene()
    await scene.sql`update agents set on_loss = 'continue'`
    const { id } = await scene.begin(await toldSession(scene), { facts })
    const [row] = await scene.sql<{ facts: object }[]>`select facts from messages where id = ${id}`
    expect(Object.keys(row?.facts ?? {})).not.toContain('values')
    await change(scene)
    expect((await claim(scene, id))?.values).toEqual({ user: 'ann', metadata: { plan: 'free' } })
  },
)

verifies('contract-35.metadata', 'what a client secret has set is told to nobody elsewhere', async () => {
  await using scene = await openScene()
  await scene.sql`update agents set on_loss = 'continue'`
  const sessionId = await toldSession(scene)
  await scene.sql`update sessions set metadata = metadata || '{"team": "x"}', uncounted = '{plan}' where id = ${sessionId}`
  const { id } = await scene.begin(sessionId, { facts })
  expect((await claim(scene, id))?.values).toEqual({ user: 'ann', metadata: { team: 'x' } })
})
