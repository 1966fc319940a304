/**
 * The basis on which a reply goes on that another instance began: its agent as it was when it began, and what its
 * request had set.
 */

import type { InForce, ReplyStart } from '../../actors/ports/index.ts'
import { nothingInForce } from '../../actors/reply/start-reply.ts'
import type { ReplySetup } from '../../actors/session/host.ts'
import type { Claimed } from './handovers.ts'

/**
 * The builder of what the agent contributes, as it is now. Throws if the agent's provider does not take it any more.
 */
type Rebuild = (
  agentId: string,
  inForce: Pick<InForce, 'fields' | 'overrides'>,
  mediaTypes: readonly string[],
  replyId: string,
) => Promise<
  Pick<ReplySetup, 'agentName' | 'openToolbox'> & {
    expiresAfterS: number | null
    request: Omit<ReplySetup['request'], 'reasoning'>
  }
>

/** Returns the basis of a claimed reply, with the agent's part by `rebuild`. */
export const basisOfClaimed =
  (rebuild: Rebuild) =>
  async ({ reply, agentId, start, continued }: Claimed, mediaTypes: readonly string[]): Promise<ReplySetup> => {
    const { toolChoice, reasoning, shows, instructions, ...inForce } = start ?? {
      ...nothingSet,
      ...continued?.carried,
    }
    const { tools, fields, overrides } = inForce
    const { agentName, request, openToolbox, expiresAfterS } = await rebuild(
      agentId,
      { fields, overrides },
      mediaTypes,
      reply.id,
    )
    return {
      agentName,
      request: { ...request, reasoning },
      actions: { callerTools: tools, toolChoice, canWait: true, expiresAfterS, shows },
      inForce: { tools, fields, overrides },
      instructions,
      openToolbox,
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
