/** The door of branches: all that the wires, the rest of http and other features use of it. */

export { makeSession, type SessionMakingDependencies, titleFrom } from './routes/new-session.ts'
export { moveHead } from './routes/session-head.ts'
export { listFramePlaces } from './store/frame-places.ts'
export { givenRows } from './store/given-messages.ts'
export { hasMessage, lastKnownReply, newestAsked, sentMessage, sessionExists } from './store/known-messages.ts'
