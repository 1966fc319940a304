/** The door of sessions: all that the wires, the rest of http and other features use of it. */
export {
  batchesOf,
  batchesOfPath,
  ListTooLong,
  listMessages,
  type MessageList,
  type MessageQuery,
  UnknownMessage,
  wholePath,
} from './store/message-list.ts'
export type { Message } from './store/message-rows.ts'
export { changeSession, type NoRoom } from './store/session-changes.ts'
export {
  deleteSession,
  deleteSessionsOf,
  findSession,
  type ListedSession,
  listSessions,
  newestReply,
  type ParentCall,
  parentOf,
  readSession,
  type Session,
  type SessionRow,
  sessionColumns,
} from './store/sessions.ts'
export { missingIn, partsOf } from './store/shown-fields.ts'
export {
  mayHaveWaited,
  type PendingCall,
  pendingOf,
  readPending,
  type WaitedCall,
  type WithPending,
} from './store/waiting-calls.ts'
