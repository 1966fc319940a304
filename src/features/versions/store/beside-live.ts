/** The states of an agent that replies may use beside the live version. */
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { ToolsOfAgent } from '../../../persistence/records/tools/tool-approvals.ts'
import { readDraft } from './drafts.ts'
import { pinOf } from './pin.ts'
import { findVersion } from './versions.ts'

interface State {
  system: string | null
  tools: ToolsOfAgent
}

/** Finds the draft of an agent, and the version that a session is pinned to. */
export async function statesBesideLive(sql: Sql, agentId: string, sessionId: string | null): Promise<State[]> {
  const draft = await readDraft(sql, agentId)
  const pin = sessionId === null ? null : await pinOf(sql, agentId, sessionId)
  const pinned = pin === null ? null : await findVersion(sql, agentId, pin)
  const held = [...(draft?.changes ? [draft.drafted] : []), ...(pinned ? [pinned.held] : [])]
  return held.map(({ agent, prompt, tools, named }) => ({
    system: prompt ?? agent.systemPrompt,
    tools: { ...tools, named },
  }))
}
