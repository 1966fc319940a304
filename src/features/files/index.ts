/** The door of files: what the wires use of it. */
export { ownFiles } from './routes/own-files.ts'
