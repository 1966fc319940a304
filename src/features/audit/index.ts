/** The door of audit: all that the wires, the rest of http and other features use of it. */
export { changedSecret, changesBetween, headerChange, withoutSecrets } from './routes/changes.ts'
export { commitChange } from './routes/commit-change.ts'
export { changesOf, type Dependent } from './routes/dependents.ts'
export { originOf, recordChange, recordCreation, recordDeletion, recordUpdate } from './routes/record-change.ts'
export { createSessionReads, type NoteReads } from './routes/session-reads.ts'
export { type AuditedChange, type AuditOrigin, tellActor, writeEntries } from './store/audit.ts'
export { forgetTitlesRead } from './store/session-reads.ts'
