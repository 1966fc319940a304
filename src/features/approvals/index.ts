/**
 * The door of approvals: all that the wires, the rest of http and other features use of it.
 *
 * A call that waits has a kind. What a kind adds: its word (`WaitingCall.kind`) and its decisions in `callDecisions`
 * (actors/reply/reply-event.ts), its rank (store/kind_rank.sql: the kinds of a lower rank are pending first), its check
 * (routes/fitting-decisions.ts), the surfaces that decide it (`GivenDecisions.decides`), and what running it after the
 * decision means (run-decided.ts).
 *
 * A decision is stored with its call at once (store/decided/decide_pending.sql); the call stays open until all that is pending is
 * decided. The request that decides the last call begins the reply. A decision that comes without a request takes the
 * session's lock, then calls decide_pending and follow_decided in its transaction, and hands the reply that has begun here
 * to `Queue.generate`; without one it begins wherever queues are tended. Both carry out what take_decided leaves to the reply.
 */

export {
  broughtFunctions,
  broughtTools,
  broughtUITools,
  type CallerTools,
  noTools,
  readCallerTools,
  refuseTaken,
} from './routes/caller-tools.ts'
export {
  answersAmong,
  awaitedAt,
  deciderOf,
  decisionsIn,
  type GivenDecision,
  type GivenDecisions,
  readDecisions,
  wishOf,
} from './routes/decisions.ts'
export { type CheckContent, fittingDecisions, type SessionBelow } from './routes/fitting-decisions.ts'
export { ownCallOf, pageDecisions, questionsById, shownEntries, shownQuestions } from './routes/question-answers.ts'
export { recordDecisions, sendDecisions } from './routes/record-decisions.ts'
export { shownDecisions } from './routes/remembered-handlers.ts'
export { findWait, pendingBelow, type Wait, wasDecidedBelow } from './store/waits.ts'
