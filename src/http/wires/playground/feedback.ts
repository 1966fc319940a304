/** Feedback that is given in the playground. */
import type { FastifyRequest } from 'fastify'
import { type FeedbackDependencies, giveFeedback, takeFeedbackBack } from '../../../features/feedback/index.ts'
import type { Handlers } from '../../server/mount.ts'

/** Returns the reply that a login or a key speaks of, under its own name. */
const ownPlace = (
  {
    agent_id: agentId,
    session_id: sessionId,
    message_id: messageId,
  }: Record<'agent_id' | 'session_id' | 'message_id', string>,
  { actor }: FastifyRequest,
) => ({ agentId, sessionId, messageId, by: 'login' as const, name: actor?.actor ?? null })

export const playgroundFeedback = (deps: FeedbackDependencies) =>
  ({
    putPlaygroundFeedback: async ({ params, body, request }) =>
      await giveFeedback(deps, ownPlace(params, request), { score: body.score, comment: body.comment ?? null }),
    deletePlaygroundFeedback: async ({ params, request }) => await takeFeedbackBack(deps, ownPlace(params, request)),
  }) satisfies Pick<Handlers<'playground'>, 'putPlaygroundFeedback' | 'deletePlaygroundFeedback'>
