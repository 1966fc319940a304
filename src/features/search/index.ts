/** The door of search: all that the wires, the rest of http and other features use of it. */
export type { RunSearch } from './routes/run-search.ts'
