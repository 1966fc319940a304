/** This instance's Prometheus metrics (contract section 1, METRICS_PORT, and section 17). */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ModelFailure } from '../actors/ports/index.ts'
import type { ModelCallEvent, ObservedOutcome, ObservedReply } from '../actors/ports/observer.ts'
import type { Usage } from '../actors/reply/reply-event.ts'
import type { PartialObserver, PartialReplyObserver } from './observers.ts'

/** All metrics, as data that can be summed over several processes. */
export type MetricsSnapshot = object[]

/** Sources of the gauges, read on each scrape. */
export interface Inspection {
  /** Returns the readers of each reply that runs here, and of those that run elsewhere. */
  report(): Record<'actors' | 'followed', readonly { subscribers: number }[]>
  /** Counts the replies that run here, stateless ones included. */
  running(): number
  /** Returns by how many milliseconds this clock is ahead of the database's. */
  clockOffsetMs(): number
  /** Counts the waiting sessions of all instances. Rejects while the database is away. */
  waiting(): Promise<number>
}

export interface Metrics {
  observer: PartialObserver
  requests: {
    begin(request: { method: string; route: string | null }): { traceparent: null; ended(status: number): void }
  }
  onFlush(flush: { frames: number; replies: number; ms: number }): void
  onRenewal(ok: boolean): void
  /** Counts instances that this one declared lost. */
  onInstancesLost(count: number): void
  /** Counts replies of lost instances that this one settled. */
  onRepliesLost(count: number): void
  /** Counts a reply of another instance that this one continues. */
  onTakenOver(reason: string): void
  onSpansDropped(count: number): void
  inspect(inspection: Inspection): void
  snapshot(): Promise<MetricsSnapshot>
}

const waits = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
const gaps = [0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5]
const stalls = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const writes = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]
/** A decision may come at once, or after months. */
const decisionBuckets = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800, 2_592_000]
const lengths = [0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600]

const booleans = ['true', 'false']
const kinds = ['session', 'stateless']
const directions = ['prompt', 'completion']
/** The first two are part of the prompt's tokens, the third of the completion's. */
const details = {
  cached: 'cachedTokens',
  cache_write: 'cacheWriteTokens',
  reasoning: 'reasoningTokens',
} as const satisfies Record<string, keyof Usage>

/** All label values, to create their series. */
export interface LabelValues {
  /** Types of providers. */
  providers: readonly string[]
  outcomes: readonly ObservedOutcome[]
  /** Failure codes of model calls. */
  failures: readonly ModelFailure['code'][]
  /** The reasons for which a reply continues in another instance. */
  handovers: readonly string[]
}

export function createMetrics(values: LabelValues): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const { counter, histogram } = makersOf(registry)

  const flushSeconds = histogram('journal_flush_seconds', 'How long one write of the journal took.', writes)
  const flushFrames = histogram('journal_flush_frames', 'Frames in one write of the journal.', sizes)
  const flushReplies = histogram('journal_flush_replies', 'Replies with frames in one write of the journal.', sizes)
  const renewals = counter('lease_renewals_total', 'Renewals of this instance’s lease.', { ok: booleans })
  const lostReplies = counter('lost_replies_total', 'Replies of lost instances that this one has settled.')
  const lostInstances = counter('instances_lost_total', 'Instances that this one has declared lost.')
  const takenOver = counter('replies_handed_over_total', 'Replies that this instance has taken over from others.', {
    reason: values.handovers,
  })
  const droppedSpans = counter('spans_dropped_total', 'Spans that could not be sent to the collector.')
  const requests = new Counter({
    name: 'greenroom_http_requests_total',
    help: 'Requests that were answered.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })

  const decisionSeconds = histogram('decision_seconds', 'From a question to its decision.', decisionBuckets)
  const { begin } = replyMetrics({ counter, histogram }, values)

  return {
    observer: {
      begin(reply) {
        if (reply.decided) decisionSeconds.observe(reply.decided.waitedMs / 1000)
        return begin(reply)
      },
    },
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
    onInstancesLost: (count) => lostInstances.inc(count),
    onRepliesLost: (count) => lostReplies.inc(count),
    onTakenOver: (reason) => takenOver.inc({ reason }),
    onSpansDropped: (count) => droppedSpans.inc(count),
    inspect: (inspection) => gauges(registry, inspection),
    snapshot: () => registry.getMetricsAsJSON(),
  }
}

type Makers = ReturnType<typeof makersOf>

function makersOf(registry: Registry) {
  return {
    /**
     * Sets each label with all its values: every series exists from the start, at 0. Prometheus' `increase()` sees the step
     * from 0 to 1, but not a series that appears at 1.
     */
    counter<L extends string>(name: string, help: string, labels?: Record<L, readonly string[]>): Counter<L> {
      const sets = Object.entries(labels ?? {}) as [L, readonly string[]][] // the keys of `labels` are its type's
      const labelNames = sets.map(([label]) => label)
      const made = new Counter({ name: `greenroom_${name}`, help, labelNames, registers: [registry] })
      for (const series of combinations(sets)) made.inc(series, 0)
      return made
    },
    histogram: <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
      new Histogram({ name: `greenroom_${name}`, help, buckets, labelNames, registers: [registry] }),
  }
}

const combinations = <L extends string>(sets: readonly [L, readonly string[]][]): Partial<Record<L, string>>[] =>
  sets.reduce<Partial<Record<L, string>>[]>(
    (all, [label, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  )

/** Labels are kind of reply and provider, never agent, model or tool: those are unbounded, and each would be a series. */
function replyMetrics({ counter, histogram }: Makers, { providers, outcomes, failures }: LabelValues): PartialObserver {
  const replies = counter('replies_total', 'Replies that ended, by outcome.', { kind: kinds, outcome: outcomes })
  const duration = histogram('reply_seconds', 'From a reply’s start to its stored outcome.', lengths, 'kind')
  const firstToken = histogram('first_token_seconds', 'From a reply’s start to its first text.', waits, 'kind')
  const gap = histogram('token_gap_seconds', 'Mean time between two texts of a model call.', gaps, 'provider')
  const longest = 'Longest time between two texts of a model call.'
  const longestGap = histogram('longest_token_gap_seconds', longest, stalls, 'provider')
  const settlement = histogram('settlement_seconds', 'From the end of generation to the stored outcome.', writes)
  const countTokens = tokenCounters(counter, providers)
  const texts = counter('texts_total', 'Texts that providers sent, roughly tokens.', { provider: providers })
  const calls = counter('model_calls_total', 'Model calls, retries excluded.', { provider: providers })
  const errors = counter('provider_errors_total', 'Model calls that failed, by error code.', {
    provider: providers,
    code: failures,
  })
  const retries = counter('provider_retries_total', 'Provider calls that failed and were retried.')
  const providerCalls = counter('provider_calls_total', 'Calls to providers, retries and fallbacks included.', {
    provider: providers,
    outcome: ['ok', 'stopped', ...failures],
  })
  const tools = counter('tool_calls_total', 'Tool calls.', { ok: booleans })
  const toolSeconds = histogram('tool_call_seconds', 'How long a tool call took.', waits)

  function begin({ purpose, sessionId, providerType }: ObservedReply): PartialReplyObserver {
    // The one that was asked last: a fallback, maybe.
    let provider = providerType
    const onCalls = (event: ModelCallEvent): void => {
      if (event.type === 'called') provider = event.providerType
      else if (event.type === 'call_ended') providerCalls.inc({ provider, outcome: event.outcome })
      else if (event.type === 'retried') retries.inc()
    }
    if (purpose !== 'reply') return { modelCall: () => ({ on: onCalls }) }
    const kind = sessionId === null ? 'stateless' : 'session'
    const since = performance.now()
    const secondsSince = (begun: number) => (performance.now() - begun) / 1000
    let hasText = false
    let settlingSince: number | null = null
    return {
      modelCall() {
        calls.inc({ provider: providerType })
        return {
          on(event) {
            onCalls(event)
            if (event.type !== 'ended') return
            const { pace, end } = event
            if (typeof end === 'string') errors.inc({ provider, code: end })
            if (pace.firstAt === null) return
            if (!hasText) firstToken.observe({ kind }, (pace.firstAt - since) / 1000)
            hasText = true
            texts.inc({ provider }, pace.texts)
            if (pace.texts < 2) return
            gap.observe({ provider }, (pace.lastAt - pace.firstAt) / (pace.texts - 1) / 1000)
            longestGap.observe({ provider }, pace.longestGapMs / 1000)
          },
        }
      },
      toolCall() {
        const called = performance.now()
        return {
          on({ ok }) {
            tools.inc({ ok: String(ok) })
            toolSeconds.observe(secondsSince(called))
          },
        }
      },
      on(event) {
        if (event.type === 'settling') settlingSince = performance.now()
        if (event.type !== 'ended') return
        const { outcome, usage } = event
        replies.inc({ kind, outcome })
        duration.observe({ kind }, secondsSince(since))
        if (settlingSince !== null) settlement.observe(secondsSince(settlingSince))
        countTokens(provider, usage)
      },
    }
  }
  return { begin }
}

function tokenCounters(counter: Makers['counter'], providers: readonly string[]) {
  const tokens = counter('tokens_total', 'Tokens of replies that ended.', {
    direction: directions,
    provider: providers,
  })
  const besides = counter('token_details_total', 'Tokens of replies that ended which providers counted apart.', {
    detail: Object.keys(details),
    provider: providers,
  })
  return (provider: string, usage: Usage): void => {
    tokens.inc({ direction: 'prompt', provider }, usage.promptTokens)
    tokens.inc({ direction: 'completion', provider }, usage.completionTokens)
    for (const [detail, name] of Object.entries(details)) besides.inc({ detail, provider }, usage[name] ?? 0)
  }
}

function gauges(registry: Registry, { report, running, waiting, clockOffsetMs }: Inspection): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `greenroom_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  const sum = (numbers: readonly { subscribers: number }[]) => numbers.reduce((all, one) => all + one.subscribers, 0)
  gauge('running_replies', 'Replies that run here, stateless ones included.', running)
  gauge('live_actors', 'Session actors in memory.', () => report().actors.length)
  gauge('subscribers', 'Streams that read session replies that run here.', () => sum(report().actors))
  gauge('followed_replies', 'Replies of other instances that are read here.', () => report().followed.length)
  // Of several processes on a machine the largest counts: they have one clock.
  new Gauge({
    name: 'greenroom_clock_ahead_seconds',
    help: "By how much this clock is ahead of the database's; negative where it is behind.",
    registers: [registry],
    aggregator: 'max',
    collect() {
      this.set(clockOffsetMs() / 1000)
    },
  })
  // Every process tells the same number: of several the largest counts.
  new Gauge({
    name: 'greenroom_waiting_sessions',
    help: 'Sessions that wait for somebody, of all instances.',
    registers: [registry],
    aggregator: 'max',
    async collect() {
      const count = await waiting().catch(() => null)
      if (count !== null) this.set(count)
    },
  })
  gauge('followers', 'Streams that read replies of other instances here.', () => sum(report().followed))
}
