/** Children where there is little room: replies that run, bytes that are stored, and time (contract section 30). */
import { expect } from 'vitest'
import { newId } from '../../../src/actors/reply/new-id.ts'
import { createChildren } from '../../../src/features/children/children.ts'
import type { ChildStore } from '../../../src/features/children/store/children.ts'
import { openScene } from '../../actors/scene.ts'
import { turn } from '../../actors/turn.ts'
import type { SceneOptions } from '../../http/scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'
import { verifies } from '../../verifies.ts'
import { asking, asks, openTreeScene, says } from './tree-scene.ts'

async function openRoom(settings: NonNullable<SceneOptions['settings']>) {
  const scene = await openTreeScene({ settings })
  const ledger = await scene.newAgent('ledger')
  const billing = await scene.newAgent('billing')
  const desk = await scene.newAgent('desk')
  await scene.toolsOf(billing, [{ agentId: ledger }])
  await scene.toolsOf(desk, [{ agentId: billing }])
  return { ...scene, desk, billing, [Symbol.asyncDispose]: () => scene.close() }
}

verifies('contract-30.child-places', 'one that waits for its own children takes no place', async () => {
  await using scene = await openRoom({ MAX_RUNNING_REPLIES: '1' })
  scene.plays('desk', asks('', ...['a', 'b', 'c'].map((message) => asking('billing', message))), says('Done.'))
  // The model of billing is asked three times, and told three times.
  const steps = [0, 1, 2].map(() => asks('', asking('ledger', 'Count!')))
  scene.plays(
    'billing',
    ...[0, 1, 2, 3, 4, 5].map(() => (call: UpstreamCall) => {
      const next = call.body.messages.at(-1).role === 'tool' ? says('Told.') : steps.pop()
      return next?.(call)
    }),
  )
  scene.plays('ledger', says('1'), says('2'), says('3'))
  const { reply } = await scene.ask(scene.desk, 'Ask!')
  expect([reply.status, reply.json.choices?.[0].message.content]).toEqual([200, 'Done.'])
})

verifies('contract-30.child-places', 'the others wait for a place', async () => {
  await using scene = await openRoom({ MAX_RUNNING_REPLIES: '1' })
  scene.plays('desk', asks('', ...['a', 'b', 'c'].map((message) => asking('billing', message))))
  scene.plays('billing', ...[0, 1, 2].map(() => (call: { closed: Promise<void> }) => call.closed))
  const sessions = `/api/v1/agents/${scene.desk}/deploy/sessions`
  const { id } = (await scene.call('POST', sessions, {})).json
  const path = `${sessions}/${id}/chat/completions`
  const reply = scene.call('POST', path, { messages: [{ role: 'user', content: 'Ask!' }] })
  const { sql } = scene.app
  const statuses = () => sql<{ status: string; n: number }[]>`
    select status, count(*)::integer as n from sessions where parent is not null group by status order by status`
  await expect.poll(statuses).toEqual([
    { status: 'idle', n: 2 },
    { status: 'streaming', n: 1 },
  ])
  expect((await scene.call('POST', `${path}/cancel`)).status).toBe(204)
  await reply
})

verifies('contract-30.child-places', 'those that are looked for at once begin one after the other', async () => {
  const { inner } = openScene({ maxRunning: 1 })
  const answered = Promise.withResolvers<void>()
  const begun: string[] = []
  const children = createChildren(inner, {
    // Free places are counted first, as in begin_children.sql.
    store: {
      async begin(_: string | null, most: number) {
        const room = most - begun.length
        await answered.promise
        return room > 0 ? [newId()] : []
      },
      end: async () => [],
      follow: async () => {},
    } as unknown as ChildStore, // no more of it is asked
    generate: (replyId) => begun.push(replyId),
    again: (ask) => ask(),
  })
  const looks = [children.tend(), children.tend()]
  await turn()
  answered.resolve()
  await Promise.all(looks)
  expect(begun).toHaveLength(1)
})

verifies('contract-30.child-limits', 'where it would hold too much there is none, and the model is told', async () => {
  await using scene = await openRoom({ MAX_SESSION_BYTES: '1000', MAX_USER_BYTES: '500' })
  scene.plays(
    'desk',
    asks('', asking('billing', 'x'.repeat(1001)), asking('billing', 'x'.repeat(501)), asking('billing', 'x')),
  )
  scene.plays('billing', says('Fits.'))
  let told: string[] = []
  scene.plays('desk', (call) => {
    told = call.body.messages.slice(-3).map(({ content }: { content: string }) => content)
    return says('Done.')(call)
  })
  const { session } = await scene.ask(scene.desk, 'Ask!', { user: 'ann' })
  expect(told).toEqual([
    'The agent was not asked: its session would hold more than MAX_SESSION_BYTES allows.',
    'The agent was not asked: the sessions of this user would hold more than MAX_USER_BYTES allows.',
    'Fits.',
  ])
  const { sessions } = (await scene.call('GET', `/api/v1/agents/${scene.desk}/deploy/sessions/${session}/children`))
    .json
  expect(sessions).toHaveLength(1)
})

verifies(
  'contract-30.child-cancel',
  'a parent whose time is over ends those that run and those that have not begun',
  async () => {
    await using scene = await openRoom({ GENERATION_TIMEOUT_S: '3' })
    let session = ''
    // On a busy machine its time may be over before a child's model is called.
    while (!scene.up.calls.some(({ body }) => body.model === 'billing')) {
      scene.plays('desk', asks('', ...Array.from({ length: 9 }, (_, n) => asking('billing', `${n}`))))
      scene.plays('billing', ...Array.from({ length: 9 }, () => (call: { closed: Promise<void> }) => call.closed))
      const asked = await scene.ask(scene.desk, 'Ask!')
      expect(asked.reply.status).toBe(500)
      session = asked.session
    }
    const below = async () =>
      (await scene.call('GET', `/api/v1/agents/${scene.desk}/deploy/sessions/${session}/children`)).json.sessions
    const statuses = () =>
      scene.app.sql<{ status: string }[]>`select distinct status from sessions where parent is not null`
    await expect.poll(statuses).toEqual([{ status: 'cancelled' }])
    // Eight run at a time: one has not begun.
    await expect.poll(async () => (await below()).length).toBeLessThan(9)
    const shown = await scene.call('GET', `/api/v1/agents/${scene.desk}/playground/sessions/${session}/messages`)
    const [, asked] = shown.json.messages
    expect(asked.toolCalls).toHaveLength(9)
    expect(asked.toolCalls.every(({ ok }: { ok: unknown }) => ok === null)).toBe(true)
  },
)
