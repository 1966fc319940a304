/** The door of live-lists: all that the wires, the rest of http and other features use of it. */
export { type FeedDependencies, sendChanges, tellPosition } from './routes/send-changes.ts'
