/** The door of approvals: all that the wires, the rest of http and other features use of it. */

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
  decisionsIn,
  type GivenDecisions,
  readDecisions,
} from './routes/decisions.ts'
export { type CheckContent, fittingDecisions } from './routes/fitting-decisions.ts'
export { outputsAsAnswers, questionsById, shownQuestions } from './routes/question-answers.ts'
export { recordDecisions, sendDecisions } from './routes/record-decisions.ts'
export { findWait, type Wait } from './store/waits.ts'
