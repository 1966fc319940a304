/**
 * Collects the metrics of several worker processes over node:cluster's channel. Counters never decrease: a worker that
 * does not answer in time counts with its last snapshot, and of one that has ended the counters in it stay.
 */
import type { MetricsSnapshot } from './metrics.ts'

/** The primary process's request; a worker answers with the same number. */
export interface MetricsQuestion {
  metricsOf: number
}

export interface MetricsAnswer extends MetricsQuestion {
  snapshot: MetricsSnapshot
}

/** A worker of node:cluster. Its `id` is never reused. */
interface MetricsWorker {
  id: number
  isConnected(): boolean
  send(question: MetricsQuestion): unknown
}

/** Longest time that a hung worker delays the response. */
const ANSWER_MS = 2000

export const isMetricsQuestion = (message: unknown): message is MetricsQuestion =>
  typeof message === 'object' && message !== null && 'metricsOf' in message

const isAnswer = (message: unknown): message is MetricsAnswer => isMetricsQuestion(message) && 'snapshot' in message

export function createWorkerMetrics({ answerMs = ANSWER_MS } = {}) {
  const questions = new Map<number, { worker: MetricsWorker; answered(): void }>()
  const latest = new Map<number, MetricsSnapshot>()
  let ended: Promise<MetricsSnapshot> = Promise.resolve([])
  let asked = 0

  function ask(worker: MetricsWorker): Promise<void> {
    if (!worker.isConnected()) return Promise.resolve()
    const metricsOf = ++asked
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, answerMs)
      const answered = () => {
        clearTimeout(timer)
        resolve()
      }
      questions.set(metricsOf, { worker, answered })
      worker.send({ metricsOf })
    })
  }

  /** Keeps its counters and drops its gauges, which describe something that is gone. */
  function retire(id: number, snapshot: MetricsSnapshot): void {
    latest.delete(id)
    for (const [number, { worker }] of questions) if (worker.id === id) questions.delete(number)
    ended = ended.then((sums) => summed([sums, snapshot.filter(isCount)]))
  }

  return {
    /** Accepts any message of a worker. A late answer counts in the next collection. */
    onMessage(message: unknown): void {
      if (!isAnswer(message)) return
      const question = questions.get(message.metricsOf)
      if (question === undefined) return
      questions.delete(message.metricsOf)
      // Answers arrive in the order of the questions: this is the newest.
      latest.set(question.worker.id, message.snapshot)
      question.answered()
    },
    /** Collects the metrics of workers. `workers`: all that serve now. Those missing since the last call have ended. */
    async collect(workers: readonly MetricsWorker[]): Promise<MetricsSnapshot[]> {
      await Promise.all(workers.map(ask))
      const serving = new Set(workers.map(({ id }) => id))
      for (const [id, snapshot] of latest) if (!serving.has(id)) retire(id, snapshot)
      return [await ended, ...latest.values()]
    },
  }
}

const isCount = (metric: object): boolean => 'type' in metric && metric.type !== 'gauge'

/**
 * Sums the snapshots into one, however many workers have ended. prom-client is loaded lazily, since not every process needs
 * it.
 */
async function summed(snapshots: MetricsSnapshot[]): Promise<MetricsSnapshot> {
  const { AggregatorRegistry } = await import('prom-client')
  return AggregatorRegistry.aggregate(snapshots).getMetricsAsJSON()
}
