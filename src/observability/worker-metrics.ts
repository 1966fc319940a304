/**
 * The metrics of several worker processes, asked for over the channel that node:cluster keeps. Their sums never fall: a
 * worker that does not answer in time counts with its last answer, one that has ended with what it had counted.
 */
import type { MetricsSnapshot } from './metrics.ts'

/** What the first process asks; a worker answers with the same number. */
export interface MetricsQuestion {
  metricsOf: number
}

export interface MetricsAnswer extends MetricsQuestion {
  snapshot: MetricsSnapshot
}

/** As node:cluster has it. Its `id` is never used again. */
interface Asked {
  id: number
  isConnected(): boolean
  send(question: MetricsQuestion): unknown
}

/** So long one that hangs holds up the sums. */
const ANSWER_MS = 2000

export const isMetricsQuestion = (message: unknown): message is MetricsQuestion =>
  typeof message === 'object' && message !== null && 'metricsOf' in message

const isAnswer = (message: unknown): message is MetricsAnswer => isMetricsQuestion(message) && 'snapshot' in message

export function createWorkerMetrics({ answerMs = ANSWER_MS } = {}) {
  const questions = new Map<number, { worker: Asked; answered(): void }>()
  const latest = new Map<number, MetricsSnapshot>()
  let ended: Promise<MetricsSnapshot> = Promise.resolve([])
  let asked = 0

  function ask(worker: Asked): Promise<void> {
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

  /** What it has counted stays; its gauges told of something that is gone. */
  function retire(id: number, snapshot: MetricsSnapshot): void {
    latest.delete(id)
    for (const [number, { worker }] of questions) if (worker.id === id) questions.delete(number)
    ended = ended.then((sums) => summed([sums, snapshot.filter(isCount)]))
  }

  return {
    /** Every message of a worker may come here. A late answer counts the next time. */
    onMessage(message: unknown): void {
      if (!isAnswer(message)) return
      const question = questions.get(message.metricsOf)
      if (question === undefined) return
      questions.delete(message.metricsOf)
      // Answers come in the order of the questions: this is the newest.
      latest.set(question.worker.id, message.snapshot)
      question.answered()
    },
    /** `workers`: all that serve now. Those that were among them before and are not any more have ended. */
    async collect(workers: readonly Asked[]): Promise<MetricsSnapshot[]> {
      await Promise.all(workers.map(ask))
      const serving = new Set(workers.map(({ id }) => id))
      for (const [id, snapshot] of latest) if (!serving.has(id)) retire(id, snapshot)
      return [await ended, ...latest.values()]
    },
  }
}

const isCount = (metric: object): boolean => 'type' in metric && metric.type !== 'gauge'

/** One snapshot: workers may end without number. Loaded by those who serve metrics, and have it by then. */
async function summed(snapshots: MetricsSnapshot[]): Promise<MetricsSnapshot> {
  const { AggregatorRegistry } = await import('prom-client')
  return AggregatorRegistry.aggregate(snapshots).getMetricsAsJSON()
}
