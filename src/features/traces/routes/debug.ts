/** The debug API (contract section 8): the chart, each session's steps, traffic, live actors. */
import { missing } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import { listAs } from '../../../http/server/paging/list.ts'
import { connectionSignal, lastEventId } from '../../../http/streaming/reply-stream.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { ChartTransition } from '../chart.ts'
import { machineConfig, mermaidChart, sessionChart, transitionTaken } from '../chart.ts'
import type { ActorReports, InstanceReport } from '../store/actor-reports.ts'
import { findById } from '../store/find.ts'
import * as transitions from '../store/transitions.ts'
import type { TraceRecorder } from '../transitions.ts'
import { changes, sendSteps } from './following.ts'

export interface DebugDependencies {
  sql: Sql
  recorder: TraceRecorder
  /** The times after which a silent provider, and a reply, are given up. */
  patience: { silenceLimitMs: number; replyLimitMs: number }
  actorReports: Pick<ActorReports, 'all'>
}

export const debugHandlers = ({ sql, recorder, actorReports, patience }: DebugDependencies) => {
  const chart = sessionChart()
  return {
    getChart: async ({ query, reply }) => {
      if (query.format === 'mermaid') return reply.type('text/plain; charset=utf-8').send(mermaidChart())
      return query.format === 'xstate' ? machineConfig() : chart
    },
    getChartTraffic: async ({ query }) => {
      await recorder.flush()
      const { since, steps, states } = await transitions.readTraffic(sql, query.hours)
      const counts = new Map<ChartTransition, number>()
      for (const step of steps) {
        const taken = transitionTaken(chart.transitions, step)
        if (taken) counts.set(taken, (counts.get(taken) ?? 0) + step.count)
      }
      const visited = new Map(states.map((state) => [state.id, state]))
      return {
        since,
        transitions: chart.transitions.map((transition) => {
          const { id, source, target, event } = transition
          return { id, source, target, event, count: counts.get(transition) ?? 0 }
        }),
        states: chart.states.map(({ id }) => visited.get(id) ?? { id, visits: 0, p50Ms: null, p95Ms: null }),
      }
    },
    listSessionTransitions: ({ params, query }) =>
      listAs('transitions', query, async (page) => {
        await recorder.flush()
        return (await transitions.listTransitions(sql, params.id, { ...page, kind: query.kind })) ?? missing('session')
      }),
    streamSessionTransitions: async ({ params, query, request, reply }) => {
      const after = lastEventId(request.headers['last-event-id'])
      await recorder.flush()
      const read = (seq: number) => transitions.transitionsAfter(sql, params.id, seq, query.kind)
      const first = (await read(after)) ?? missing('session')
      // An async generator that waits is not released by itself when the client leaves.
      const wakes = changes(recorder, params.id, connectionSignal(reply))
      sendSteps(follow(read, { first, after }, wakes), reply)
      return undefined
    },
    findById: async ({ query }) => {
      await recorder.flush()
      return (await findById(sql, query.id)) ?? missing('session, reply or request')
    },
    async listLiveActors() {
      const read = await actorReports.all()
      const instances = read.map(({ instanceId }) => instanceId)
      return { actors: actorsOf(read), instances, now: new Date().toISOString(), ...patience }
    },
    async listSessionReaders({ params }) {
      if (!(await transitions.hasSession(sql, params.id))) missing('session')
      return { ...readersOf(params.id.toLowerCase(), await actorReports.all()), ...patience }
    },
  } satisfies Handlers<'debug'>
}

/** Returns all actors, those who read them through other instances counted in. */
function actorsOf(reports: readonly InstanceReport[]) {
  const elsewhere = new Map<string, number>()
  for (const { sessionId, subscribers } of reports.flatMap(({ followed }) => followed)) {
    elsewhere.set(sessionId, (elsewhere.get(sessionId) ?? 0) + subscribers)
  }
  return reports.flatMap(({ instanceId, actors }) =>
    actors.map(({ subscribers, newest, ...actor }) => ({
      ...actor,
      newestAt: newest ? new Date(newest.storedAt).toISOString() : null,
      instanceId,
      subscribers: subscribers + (elsewhere.get(actor.sessionId) ?? 0),
    })),
  )
}

/** Returns the session's owner, the instances through which it is read, and what was stored last. */
function readersOf(sessionId: string, reports: readonly InstanceReport[]) {
  const isIt = (one: { sessionId: string }) => one.sessionId === sessionId
  const readers = reports.map(({ instanceId, actors, followed }) => ({
    instanceId,
    subscribers: [...actors, ...followed].filter(isIt).reduce((sum, { subscribers }) => sum + subscribers, 0),
  }))
  const owner = reports.find(({ actors }) => actors.some(isIt))
  const newest = owner?.actors.find(isIt)?.newest
  return {
    ownerId: owner?.instanceId ?? null,
    readers: readers.filter(({ subscribers }) => subscribers > 0),
    newest: newest ? { frame: newest.frame, storedAt: new Date(newest.storedAt).toISOString() } : null,
    now: new Date().toISOString(),
  }
}

/** Yields the steps of a session, as they are stored; ends when the session is deleted or the client leaves. */
async function* follow(
  read: (after: number) => Promise<transitions.StoredTransition[] | null>,
  { first, after }: { first: transitions.StoredTransition[]; after: number },
  wakes: AsyncIterable<void>,
) {
  let seq = after
  let isFirst = true
  for await (const _ of wakes) {
    const steps = isFirst ? first : await read(seq)
    isFirst = false
    if (steps === null) return
    for (const step of steps) {
      seq = step.seq
      yield { id: String(step.seq), data: JSON.stringify(step) }
    }
  }
}
