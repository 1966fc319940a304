/** Steps that a settlement stores with its reply, and those of older versions, which are rows of their own. */
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ReplyInfo, TransitionRecord } from '../../../../src/actors/ports/index.ts'
import { readRequests } from '../../../../src/features/traces/store/model-requests.ts'
import { readTrace } from '../../../../src/features/traces/store/reply-trace.ts'
import {
  listTransitions,
  readTraffic,
  recordTransitions,
  transitionsAfter,
} from '../../../../src/features/traces/store/transitions.ts'
import { finished, openScene, type Scene, versions } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

const providerId = '11111111-1111-4111-8111-111111111111'
const begun = new Date('2026-01-02T03:04:05.006Z')
const page = { limit: 100, offset: 0 }

describe.each(versions)('PostgreSQL %i', (version) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(version)
  })
  afterAll(() => scene[Symbol.asyncDispose]())

  const sent = (body: object) => ({
    request: {
      ...{ turn: 1, at: begun, providerId, model: 'test-model', body: JSON.stringify(body), texts: [] },
      ...{ historyFrom: null, left: null },
    },
  })

  function stepsOf({ sessionId, id }: ReplyInfo, detail = {}): TransitionRecord[] {
    const step = { sessionId, messageId: id, at: begun }
    const working = { ...step, from: 'streaming.generating' }
    const note = { ...working, to: working.from, kind: 'note' as const }
    return [
      { ...step, from: 'idle', to: 'streaming.generating', event: 'message', detail: { parentId: null } },
      {
        ...note,
        event: 'attempt',
        detail: { span: 'a1', turn: 1, attempt: 1, startMs: 0, ...detail },
        ...sent({ n: 1 }),
      },
      { ...working, to: 'streaming.settling', event: 'finished', detail: { finishReason: 'stop' } },
      { ...step, at: new Date(), from: 'streaming.settling', to: 'complete', event: 'settled', detail: {} },
    ]
  }
  const namesOf = async ({ sessionId }: ReplyInfo) =>
    (await listTransitions(scene.sql, sessionId, page))?.items.map(({ event }) => event)
  const all = ['message', 'attempt', 'finished', 'settled']
  const begin = async () => await scene.begin(await scene.newSession())

  verifies('contract-8.transitions', 'they are one row, and are read one by one', async () => {
    const before = new Date()
    const replies = [await begin(), await begin(), await begin()]
    // The first goes alone, the others together.
    await Promise.all(
      replies.map((reply) => scene.journal.settle(reply, finished({ events: [], steps: stepsOf(reply) }))),
    )
    for (const reply of replies) {
      const { sessionId, id } = reply
      expect(await scene.sql`select 1 from step_runs where session_id = ${sessionId}`).toHaveLength(1)
      const list = await listTransitions(scene.sql, sessionId, page)
      expect(list?.items.map(({ event, from, to, kind }) => [event, from, to, kind])).toEqual(
        stepsOf(reply).map(({ event, from, to, kind = 'transition' }) => [event, from, to, kind]),
      )
      const [first, ...others] = list?.items ?? []
      expect(first).toMatchObject({
        ...{ at: begun.toISOString(), messageId: id, instanceId: scene.instance.id, detail: { parentId: null } },
      })
      expect(Date.parse(others.at(-1)?.at ?? '')).toBeGreaterThanOrEqual(before.getTime())
      // Each has a number of its own, from which a reader goes on.
      for (const [n, { seq }] of (list?.items ?? []).entries()) {
        const rest = await transitionsAfter(scene.sql, sessionId, seq)
        expect(rest?.map(({ event }) => event)).toEqual(all.slice(n + 1))
      }
      const notes = await listTransitions(scene.sql, sessionId, { limit: 1, offset: 0, kind: 'note' })
      expect([notes?.total, notes?.items.map(({ event }) => event)]).toEqual([1, ['attempt']])
      expect(await readRequests(scene.sql, id)).toMatchObject([{ turn: 1, at: begun.toISOString(), body: { n: 1 } }])
      expect((await readTrace(scene.sql, id))?.isOver).toBe(true)
    }
  })

  verifies('contract-4.stored-before-shown', 'a settlement that is sent again stores them once', async () => {
    const reply = await begin()
    const settlement = finished({ events: [], steps: stepsOf(reply) })
    for (let sent = 0; sent < 2; sent++) {
      expect(await scene.journal.settle(reply, settlement)).toMatchObject({ result: 'settled' })
    }
    expect(await namesOf(reply)).toEqual(all)
  })

  verifies('contract-8.transitions', 'those of a reply that others have ended are stored with them', async () => {
    const reply = await begin()
    await scene.journal.settle(reply, finished({ events: [] }))
    await scene.journal.settle(reply, finished({ events: [], steps: stepsOf(reply) }))
    expect(await namesOf(reply)).toEqual(all)
  })

  verifies('contract-4.stored-before-shown', 'what cannot be stored of them keeps no reply from its end', async () => {
    const nul = String.fromCharCode(0)
    const replies = [await begin(), await begin(), await begin()]
    const [, bad] = replies
    const settled = await Promise.all(
      replies.map((reply) =>
        scene.journal.settle(
          reply,
          finished({ events: [], steps: stepsOf(reply, reply === bad ? { code: nul } : {}) }),
        ),
      ),
    )
    expect(settled).toMatchObject(
      replies.map((reply) => (reply === bad ? { result: 'settled', leftSteps: true } : { result: 'settled' })),
    )
    expect(await Promise.all(replies.map(namesOf))).toEqual(replies.map((reply) => (reply === bad ? [] : all)))
    // What is left is recorded: it holds nothing else up.
    if (!bad) throw new Error('no reply')
    const other = await begin()
    await recordTransitions(scene.sql, scene.instance.id, [...stepsOf(bad, { code: nul }), ...stepsOf(other)])
    expect(await namesOf(other)).toEqual(all)
  })

  const stored = {
    'of 071': {
      steps: [
        [begun.getTime(), 'note', 'streaming.generating', 'streaming.generating', 'attempt', { span: 'a1' }],
        [begun.getTime() + 7, 'transition', 'streaming.generating', 'streaming.settling', 'finished', {}],
        [null, 'transition', 'streaming.settling', 'complete', 'settled', { attempts: 1 }],
      ],
    },
    'of 072': {
      told: [
        [begun.getTime(), 'n', '.generating', '.generating', 'attempt', { span: 'a1' }],
        [7, '', '.generating', '.settling', 'finished', {}],
        [null, '', '.settling', 'complete', 'settled', { attempts: 1 }],
      ],
    },
  }
  for (const [form, columns] of Object.entries(stored))
    verifies(['contract-8.transitions', 'contract-16.requests'], `a row ${form} stays readable`, async () => {
      const { sessionId, id } = await begin()
      const { steps = null, told = null } = { steps: undefined, told: undefined, ...columns }
      const requests = [[1, begun.getTime(), providerId, 'test-model', '{"n": 1}', null, null]]
      const last = new Date(begun.getTime() + 9)
      await scene.sql`
        insert into step_runs (session_id, message_id, instance_id, at, steps, told, requests)
        values (${sessionId}, ${id}, ${scene.instance.id}, ${last}, ${steps && JSON.stringify(steps)}::text::jsonb,
                ${told && JSON.stringify(told)}, ${JSON.stringify(requests)}::text::jsonb)`
      const at = begun.toISOString()
      const working = 'streaming.generating'
      const step = { kind: 'transition', from: 'streaming.settling' }
      expect((await listTransitions(scene.sql, sessionId, page))?.items).toMatchObject([
        { at, kind: 'note', from: working, to: working, event: 'attempt', detail: { span: 'a1' } },
        { ...step, at: new Date(begun.getTime() + 7).toISOString(), from: working, to: step.from, event: 'finished' },
        { ...step, at: last.toISOString(), to: 'complete', event: 'settled', detail: { attempts: 1 } },
      ])
      expect(await readRequests(scene.sql, id)).toMatchObject([
        { turn: 1, at, providerId, model: 'test-model', body: { n: 1 } },
      ])
    })

  verifies(
    ['contract-8.transitions', 'contract-8.traffic', 'contract-16.trace', 'contract-16.requests'],
    'rows of older versions are read before and beside them, and go with the session',
    async () => {
      const reply = await begin()
      const { sessionId, id } = reply
      const instanceId = scene.instance.id
      const old = stepsOf(reply)
      for (const { from, to, event, detail, kind = 'transition', at } of old) {
        await scene.sql`
          insert into transitions (session_id, at, from_state, to_state, event, message_id, instance_id, detail, kind)
          values (${sessionId}, ${at}, ${from}, ${to}, ${event}, ${id}, ${instanceId}, ${JSON.stringify(detail)}::text::jsonb, ${kind})`
      }
      await scene.sql`
        insert into model_requests (session_id, message_id, turn, at, provider_id, model, body)
        values (${sessionId}, ${id}, 1, ${begun}, ${providerId}, 'test-model', '{"n": 0}')`
      await scene.journal.settle(reply, finished({ events: [] }))
      expect((await readTrace(scene.sql, id))?.isOver).toBe(true)
      expect(await readRequests(scene.sql, id)).toMatchObject([{ body: { n: 0 } }])
      const before = await transitionsAfter(scene.sql, sessionId, 0)
      expect(before?.map(({ event }) => event)).toEqual(all)
      const next = await scene.begin(sessionId)
      await scene.journal.settle(next, finished({ events: [], steps: stepsOf(next) }))
      expect(await namesOf(next)).toEqual([...all, ...all])
      const after = await transitionsAfter(scene.sql, sessionId, before?.at(-1)?.seq ?? 0)
      expect(after?.map(({ event, messageId }) => [event, messageId])).toEqual(all.map((event) => [event, next.id]))
      const { steps } = await readTraffic(scene.sql, 168)
      expect(steps).toContainEqual(expect.objectContaining({ event: 'settled', to: 'complete' }))
      await scene.sql`delete from sessions where id = ${sessionId}`
      expect(await scene.sql`select 1 from steps where session_id = ${sessionId}`).toHaveLength(0)
      expect(await scene.sql`select 1 from model_requests where session_id = ${sessionId}`).toHaveLength(0)
    },
  )
})
