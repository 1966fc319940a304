/** The metrics of several worker processes, asked for over the channel that node:cluster keeps. */
import type { MetricsSnapshot } from './metrics.ts'

/** What the first process asks; a worker answers with the same number. */
export interface MetricsQuestion {
  metricsOf: number
}

export interface MetricsAnswer extends MetricsQuestion {
  snapshot: MetricsSnapshot
}

interface Asked {
  isConnected(): boolean
  send(question: MetricsQuestion): unknown
}

/** A worker that hangs or just starts is left out. */
const ANSWER_MS = 2000

export const isMetricsQuestion = (message: unknown): message is MetricsQuestion =>
  typeof message === 'object' && message !== null && 'metricsOf' in message

const isAnswer = (message: unknown): message is MetricsAnswer => isMetricsQuestion(message) && 'snapshot' in message

export function createWorkerMetrics() {
  const waiting = new Map<number, (answer: MetricsSnapshot) => void>()
  let asked = 0

  function ask(worker: Asked): Promise<MetricsSnapshot | null> {
    const metricsOf = ++asked
    return new Promise((resolve) => {
      const timer = setTimeout(done, ANSWER_MS, null)
      function done(answer: MetricsSnapshot | null): void {
        clearTimeout(timer)
        waiting.delete(metricsOf)
        resolve(answer)
      }
      waiting.set(metricsOf, done)
      if (worker.isConnected()) worker.send({ metricsOf })
      else done(null)
    })
  }

  return {
    /** Every message of a worker may come here. */
    hear(message: unknown): void {
      if (isAnswer(message)) waiting.get(message.metricsOf)?.(message.snapshot)
    },
    /** Of those that answer in time. */
    async collect(workers: readonly Asked[]): Promise<MetricsSnapshot[]> {
      return (await Promise.all(workers.map(ask))).filter((answer) => answer !== null)
    },
  }
}
