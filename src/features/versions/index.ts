/** The door of versions: all that the wires, the rest of http and other features use of it. */
export { changeDraftedAgent, changeDraftedTools, draftedAgent, draftedTools } from './routes/draft-records.ts'
export { changeDraftTools, forgetToolInDrafts } from './store/drafts.ts'
export { makeVersion } from './store/versions.ts'
