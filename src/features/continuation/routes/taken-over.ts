/**
 * The inputs with which a reply of another instance continues: its agent as it is now, and the settings of its request.
 */

import type { ReplyStart } from '../../../actors/ports/index.ts'
import { nothingInForce } from '../../../actors/reply/start-reply.ts'
import type { ReplyBasis } from '../../../actors/session/host.ts'
import { agentRequest, agentToolbox } from '../../../http/sending/agent-for-reply.ts'
import type { RecordDependencies } from '../../../http/sending/message-record.ts'
import { stillOverridden } from '../../../http/sending/overrides.ts'
import type { Claimed } from '../handovers.ts'

/** Throws 400 where the agent's provider does not take it any more. */
export const basisOfClaimed = (deps: RecordDependencies) => (claimed: Claimed, mediaTypes: readonly string[]) =>
  basisOf(deps, claimed, mediaTypes)

async function basisOf(
  deps: RecordDependencies,
  { agentId, start, continued }: Claimed,
  mediaTypes: readonly string[],
): Promise<ReplyBasis> {
  const own = await deps.agents.read(agentId)
  if (own === null) throw new Error('The agent is gone.')
  const { toolChoice, reasoning, shows, instructions, ...inForce } = start ?? {
    ...nothingSet,
    ...continued?.carried,
  }
  const { tools, fields, overrides } = inForce
  const agent = await stillOverridden(deps, own, overrides)
  return {
    agentId,
    agentName: agent.name,
    request: { ...agentRequest(deps, agent, fields, mediaTypes), reasoning },
    actions: { callerTools: tools, toolChoice, canWait: true, shows },
    inForce: { tools, fields, overrides },
    instructions,
    openToolbox: agentToolbox(deps, agent),
    origin: null,
  }
}

const nothingSet: ReplyStart = {
  ...nothingInForce,
  toolChoice: null,
  reasoning: false,
  shows: { approval: false, caller: false },
  instructions: null,
}
