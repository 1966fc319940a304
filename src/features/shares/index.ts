/** The door of shares: all that the wires, the rest of http and other features use of it. */
export { admitShare, shareTokenOf } from './routes/share-access.ts'
export { playgroundShareHandlers } from './routes/share-handlers.ts'
export type { ShareWatch } from './routes/share-watch.ts'
export { readShared, shownEnd, showsMessage } from './store/shared-path.ts'
export type { OpenedShare } from './store/shares.ts'
