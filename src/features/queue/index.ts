/** The door of queue: all that the wires, the rest of http and other features use of it. */
export type { Queue } from './queue.ts'
export { cancelSession, readQueue, refuseQueuedRegenerate, removeQueued } from './routes/queue-requests.ts'
export { isTaken, neverBegun, refuseNeverBegun, replyIdOf, type SentAnswer, sentAnswer } from './routes/sent-answer.ts'
