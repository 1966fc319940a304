/** What this instance tells Prometheus (contract section 1, METRICS_PORT). */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ObservedReply, Observer } from '../actors/observer.ts'
import type { ActorReport } from '../actors/ports.ts'

/** All of it, as data that several processes' can be added up from. */
export type MetricsSnapshot = object[]

/** What is counted when somebody asks, not when it happens. */
export interface Inspection {
  report(): ActorReport
  /** Replies that run here, stateless ones included. */
  running(): number
}

export interface Metrics {
  observer: Observer
  requests: {
    begin(request: { method: string; route: string | null }): { traceparent: null; ended(status: number): void }
  }
  onFlush(flush: { frames: number; replies: number; ms: number }): void
  onRenewal(ok: boolean): void
  onRetry(): void
  inspect(inspection: Inspection): void
  snapshot(): Promise<MetricsSnapshot>
}

const waits = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
const gaps = [0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5]
const stalls = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const writes = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]
const lengths = [0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600]

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `greenroom_${name}`, help, labelNames, registers: [registry] })
  const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
    new Histogram({ name: `greenroom_${name}`, help, buckets, labelNames, registers: [registry] })

  const flushSeconds = histogram('journal_flush_seconds', 'How long one write of the journal took.', writes)
  const flushFrames = histogram('journal_flush_frames', 'Frames that one write of the journal held.', sizes)
  const flushReplies = histogram('journal_flush_replies', 'Replies whose frames went in one write.', sizes)
  const renewals = counter('lease_renewals_total', 'Renewals of this instance’s lease.', 'ok')
  const retries = counter('provider_retries_total', 'Provider calls that failed and were made again.')
  const requests = counter('http_requests_total', 'Requests that were answered.', 'method', 'route', 'status')
  for (const ok of ['true', 'false']) renewals.inc({ ok }, 0)

  return {
    observer: replyMetrics(counter, histogram),
    requests: {
      begin: ({ method, route }) => ({
        traceparent: null,
        ended: (status) => requests.inc({ method, route: route ?? 'none', status }),
      }),
    },
    onFlush({ frames, replies, ms }) {
      flushSeconds.observe(ms / 1000)
      flushFrames.observe(frames)
      flushReplies.observe(replies)
    },
    onRenewal: (ok) => renewals.inc({ ok: String(ok) }),
    onRetry: () => retries.inc(),
    inspect: (inspection) => gauges(registry, inspection),
    snapshot: () => registry.getMetricsAsJSON(),
  }
}

type MakeCounter = <L extends string>(name: string, help: string, ...labelNames: L[]) => Counter<L>
type MakeHistogram = <L extends string>(
  name: string,
  help: string,
  buckets: number[],
  ...labelNames: L[]
) => Histogram<L>

/** By kind of reply and of provider, never by agent, model or tool: whoever makes those would make time series. */
function replyMetrics(counter: MakeCounter, histogram: MakeHistogram): Observer {
  const replies = counter('replies_total', 'Replies that ended, by how.', 'kind', 'outcome')
  const duration = histogram('reply_seconds', 'From a reply’s start to its stored outcome.', lengths, 'kind')
  const firstToken = histogram('first_token_seconds', 'From a reply’s start to its first text.', waits, 'kind')
  const gap = histogram('token_gap_seconds', 'Time between two texts, the mean of a model call.', gaps, 'provider')
  const longestGap = histogram('longest_token_gap_seconds', 'The longest of a model call.', stalls, 'provider')
  const settlement = histogram('settlement_seconds', 'From the end of generation to the stored outcome.', writes)
  const tokens = counter('tokens_total', 'Tokens of replies that ended.', 'direction', 'provider')
  const texts = counter('texts_total', 'Texts that providers sent: tokens, about.', 'provider')
  const calls = counter('model_calls_total', 'Model calls, retries not counted.', 'provider')
  const errors = counter('provider_errors_total', 'Model calls that failed, by the kind.', 'provider', 'code')
  const tools = counter('tool_calls_total', 'Tools called.', 'ok')
  const toolSeconds = histogram('tool_call_seconds', 'How long a tool took.', waits)

  function begin({ sessionId, providerType: provider }: ObservedReply): ReturnType<Observer['begin']> {
    const kind = sessionId === null ? 'stateless' : 'session'
    const since = performance.now()
    const secondsSince = (begun: number) => (performance.now() - begun) / 1000
    let spoke = false
    let settlingSince: number | null = null
    return {
      modelCall() {
        calls.inc({ provider })
        return ({ pace, end }) => {
          if (typeof end === 'string') errors.inc({ provider, code: end })
          if (pace.firstAt === null) return
          if (!spoke) firstToken.observe({ kind }, (pace.firstAt - since) / 1000)
          spoke = true
          texts.inc({ provider }, pace.texts)
          if (pace.texts < 2) return
          gap.observe({ provider }, (pace.lastAt - pace.firstAt) / (pace.texts - 1) / 1000)
          longestGap.observe({ provider }, pace.longestGapMs / 1000)
        }
      },
      toolCall() {
        const called = performance.now()
        return (ok) => {
          tools.inc({ ok: String(ok) })
          toolSeconds.observe(secondsSince(called))
        }
      },
      settling() {
        settlingSince = performance.now()
      },
      ended(outcome, { promptTokens, completionTokens }) {
        replies.inc({ kind, outcome })
        duration.observe({ kind }, secondsSince(since))
        if (settlingSince !== null) settlement.observe(secondsSince(settlingSince))
        tokens.inc({ direction: 'prompt', provider }, promptTokens)
        tokens.inc({ direction: 'completion', provider }, completionTokens)
      },
    }
  }
  return { begin }
}

function gauges(registry: Registry, { report, running }: Inspection): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...{ name: `greenroom_${name}`, help, registers: [registry] },
      collect() {
        this.set(read())
      },
    })
  const sum = (numbers: readonly { subscribers: number }[]) => numbers.reduce((all, one) => all + one.subscribers, 0)
  gauge('running_replies', 'Replies that run here, stateless ones included.', running)
  gauge('live_actors', 'Session actors in memory.', () => report().actors.length)
  gauge('subscribers', 'Streams that read a session’s reply which runs here.', () => sum(report().actors))
  gauge('followed_replies', 'Replies of other instances that are read here.', () => report().followed.length)
  gauge('followers', 'Streams here that read them.', () => sum(report().followed))
}
