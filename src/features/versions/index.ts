/** The door of versions: all that the wires, the rest of http and other features use of it. */
export {
  type AskedVersion,
  agentHolding,
  agentOfVersion,
  heldByVersion,
  readAskedVersion,
  readPin,
} from './routes/agent-of-version.ts'
export { changeDraftedAgent, changeDraftedTools, draftedAgent, draftedTools } from './routes/draft-records.ts'
export { statesBesideLive } from './store/beside-live.ts'
export { changeDraftTools, forgetToolInDrafts } from './store/drafts.ts'
export { pinOf } from './store/pin.ts'
export { asDrafts } from './store/proposals.ts'
export { begunFacts, makeVersion } from './store/versions.ts'
