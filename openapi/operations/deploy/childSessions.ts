import { type Operation, operations } from '../../operation.ts'
import { sessionCompletions } from './sessionCompletions.ts'
import { sessions } from './sessions.ts'

const errors = { 404: 'There is no such session, or the other one is not below it.' }

/** Declares an operation on a session a second time, for the sessions below one. */
function below({ share: _, path, ...own }: Operation, summary: string): Operation {
  const description = 'The answer is that of the session’s own path.'
  return {
    ...own,
    path: path.replace('{session_id}', '{session_id}/children/{child_id}'),
    summary,
    description,
    errors: { ...own.errors, ...errors },
  }
}

export const childSessions = operations({
  getChildSession: below(sessions.getSession, 'Read a session below another one'),
  listChildSessionMessages: below(sessions.listSessionMessages, 'Read the messages of a session below another one'),
  resumeChildSession: below(
    sessionCompletions.resumeSessionCompletion,
    'Follow a reply of a session below another one',
  ),
  cancelChildSession: below(
    sessionCompletions.cancelSessionCompletion,
    'Cancel a reply of a session below another one',
  ),
})
