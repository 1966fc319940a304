/** The door of search: all that the wires use of it. */
export { type RunSearch, termsIn } from './routes/run-search.ts'
export type { Asked } from './store/candidates.ts'
export { findSessions, type Snippet, snippetsOf } from './store/search.ts'
export { isIndexed, scopeWords } from './store/search-index.ts'
