/** The door of compaction: all that the wires, the rest of http and other features use of it. */
export { type Compactions, restingConversation } from './compact-session.ts'
export { type CompactionDependencies, checkpointsOf, compactNow, summariseNow } from './routes/compaction.ts'
export type { StoredCheckpoint } from './store/checkpoints.ts'
