/** Steps as they are stored (`step_runs`): those of a reply that are stored together are one row. */

import type { TransitionRecord } from '../../../actors/ports/index.ts'
import { jsonText } from '../../../persistence/replies/settling/stored-reply.ts'

/** Most steps of a row. Each row reserves as many numbers of the steps' sequence. */
export const MOST_IN_ROW = 64

/** A row of `step_runs`. */
export interface StepRun {
  sessionId: string
  messageId: string | null
  at: Date
  /** See migration 072. */
  told: string
  /** The requests that the steps sent to models. It is null when they sent none. */
  requests: StoredRequest[] | null
}

type StoredRequest = [
  turn: number,
  ms: number,
  providerId: string,
  model: string,
  body: string,
  historyFrom: number | null,
  left: string | null,
]

/** Makes rows of these steps, in their order. */
export function stepRuns(steps: readonly TransitionRecord[]): StepRun[] {
  const runs: TransitionRecord[][] = []
  const open = new Map<string, TransitionRecord[]>()
  for (const step of steps) {
    const run = open.get(step.sessionId)
    if (run !== undefined && run[0]?.messageId === step.messageId && run.length < MOST_IN_ROW) run.push(step)
    else {
      const next = [step]
      open.set(step.sessionId, next)
      runs.push(next)
    }
  }
  return runs.map(runOf)
}

/** Makes one row. `steps` are those of one reply, at least one. */
function runOf(steps: readonly TransitionRecord[]): StepRun {
  const [first] = steps
  const last = steps.at(-1)
  if (first === undefined || last === undefined) throw new Error('A run has no steps.')
  const { sessionId, messageId, at } = last
  return {
    sessionId,
    messageId,
    at,
    told: jsonText(steps.map((step) => storedStep(step, first, last))),
    requests: storedRequests(steps),
  }
}

function storedStep(step: TransitionRecord, first: TransitionRecord, last: TransitionRecord) {
  const { at, kind, from, to, event, detail } = step
  const ms = at.getTime() - (step === first ? 0 : first.at.getTime())
  return [step === last ? null : ms, kind === 'note' ? 'n' : '', shortState(from), shortState(to), event, detail]
}

const shortState = (name: string): string => name.replace(/^streaming\./, '.')

/** Returns the newest request of each turn: a call may be repeated with another body, or to another model. */
function storedRequests(steps: readonly TransitionRecord[]): StoredRequest[] | null {
  const byTurn = new Map<number, StoredRequest>()
  for (const { request } of steps) {
    if (request === undefined) continue
    const { turn, at, providerId, model, body, historyFrom, left } = request
    byTurn.set(turn, [turn, at.getTime(), providerId, model, body, historyFrom, left])
  }
  return byTurn.size === 0 ? null : [...byTurn.values()]
}

/**
 * Returns steps in the form that fold_reply expects of a settlement. `ms` is the time of the last one by this
 * instance's clock.
 */
export function settledSteps(steps: readonly TransitionRecord[]) {
  const { at, ...run } = runOf(steps)
  return { ms: at.getTime(), told: run.told, ...(run.requests && { requests: run.requests }) }
}
