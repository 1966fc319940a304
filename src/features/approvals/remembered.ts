/** Calls that a remembered decision covers (contract section 29). */
import type { Judgement } from '../../actors/generate/running.ts'
import { decisionText } from '../../actors/history/decided-calls.ts'
import type { AskingElement, ToolCall } from '../../actors/ports/index.ts'
import { membersOf, sameValues } from '../../untrusted/json/equal-json.ts'
import type { RememberedDecision } from './store/remembered/remembered.ts'

/** The reader of what is remembered of these tools in the session of a running reply, the newest first. */
export type FindRemembered = (replyId: string, tools: readonly string[]) => Promise<readonly RememberedDecision[]>

/** A call that would wait. `asking`: the elements of `approvals` that make it. */
export interface AskingCall {
  call: ToolCall
  tool: string
  asking: readonly AskingElement[]
}

/** Returns the judgement of a call that a decision covers: of several a rejection wins, then the newest. Null: none covers it. */
export function coveredBy(asked: AskingCall, remembered: readonly RememberedDecision[]): Judgement {
  const covering = remembered.filter((one) => covers(one, asked))
  const decided = covering.find(({ decision }) => decision === 'reject') ?? covering[0]
  if (decided === undefined) return null
  const { id, decision, decidedAt: at, decidedBy: name, reason } = decided
  const by = { id, decision, at, name }
  return decision === 'approve' ? { made: true, by } : { refused: decisionText({ decision, reason }), by }
}

function covers({ tool, arguments: wanted, ...one }: RememberedDecision, asked: AskingCall): boolean {
  if (tool !== asked.tool) return false
  if (one.bySecret && !mayRemember(asked.asking, one.scope)) return false
  const members = membersOf(asked.call.arguments)
  // An object with a name that stands twice says two things.
  if (members === null) return wanted === null && one.decision === 'reject'
  return wanted === null || sameValues(wanted, members)
}

/** Returns whether a client secret may have a decision remembered for so long: every element that asks allows it. */
export const mayRemember = (asking: readonly AskingElement[], scope: 'session' | 'user'): boolean =>
  asking.length > 0 && asking.every(({ mayRemember: most }) => most === 'user' || most === scope)
