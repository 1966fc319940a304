/** Feedback of a session's user (contract section 28). */
import { type FeedbackDependencies, giveFeedback, takeFeedbackBack } from '../../../features/feedback/index.ts'
import { asCountedRequest, type LimitDependencies } from '../../../features/limits/index.ts'
import { type Caller, callerLimits, type DeployHandlers, userOf } from '../../../features/users/index.ts'
import { type AgentDependencies, loadAgent } from '../../sending/agent-for-reply.ts'

type Dependencies = FeedbackDependencies & Pick<LimitDependencies, 'limits'> & Pick<AgentDependencies, 'agents'>

interface Params {
  agent_id: string
  session_id: string
  message_id: string
}

const placeOf = ({ agent_id: agentId, session_id: sessionId, message_id: messageId }: Params) =>
  ({ agentId, sessionId, messageId, by: 'user', name: null }) as const

export const feedbackHandlers = (deps: Dependencies) =>
  ({
    putFeedback: async ({ params, body, caller, reply }) => {
      const counts = (store: () => Promise<Awaited<ReturnType<typeof giveFeedback>>>) =>
        countedAs(deps, caller, params, { reply, store })
      const given = await giveFeedback(
        deps,
        placeOf(params),
        { score: body.score, comment: body.comment ?? null },
        caller.kind === 'secret' ? counts : undefined,
      )
      return { score: given.score, comment: given.comment, created_at: given.createdAt, updated_at: given.updatedAt }
    },
    deleteFeedback: async ({ params }) => await takeFeedbackBack(deps, placeOf(params)),
  }) satisfies DeployHandlers<'feedback'>

async function countedAs<Given>(
  deps: Dependencies,
  caller: Caller,
  { agent_id: agentId }: Params,
  { reply, store }: { reply: Parameters<typeof callerLimits>[1]; store: () => Promise<Given> },
): Promise<Given> {
  const agent = await loadAgent(deps, agentId)
  return await asCountedRequest(deps, { agent, user: userOf(caller), counted: callerLimits(caller, reply) }, store)
}
