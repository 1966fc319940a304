/** The door of live-lists: all that the wires, the rest of http and other features use of it. */
export type { Show } from './routes/change-text.ts'
export { createFollowers, type Follower, type Followers } from './routes/followers.ts'
export { type FeedDependencies, sendChanges, tellPosition } from './routes/send-changes.ts'
export { createFollowedStore } from './store/followed-lists.ts'
