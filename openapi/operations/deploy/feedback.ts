import { operations } from '../../operation.ts'
import { Feedback, FeedbackRequest } from '../../schemas/conversation/feedback.ts'

const path = '/api/v1/agents/{agent_id}/deploy/sessions/{session_id}/messages/{message_id}/feedback'
const unknown = 'There is no such session or message.'

export const feedback = operations({
  putFeedback: {
    method: 'put',
    path,
    scope: 'deploy',
    secret: 'session',
    summary: 'Say what the session’s user thinks of a reply',
    description: 'One for each reply; another one replaces score and comment.',
    body: FeedbackRequest,
    refusesUnknown: true,
    responses: { 200: Feedback },
    errors: {
      404: unknown,
      409: 'The reply is still running.',
      413: 'The session, or its user, holds too much.',
      429: 'A client secret gives too much in this minute; see `Retry-After`.',
    },
  },
  deleteFeedback: {
    method: 'delete',
    path,
    scope: 'deploy',
    secret: 'session',
    summary: 'Take the feedback of the session’s user back',
    responses: { 204: null },
    errors: { 404: unknown },
  },
})
