import { type Operation, operations } from '../../operation.ts'
import { playground } from './playground.ts'

const errors = { 404: 'There is no such session, or the other one is not below it.' }

/** Declares an operation on a session a second time, for the sessions below one. */
function below({ path, shows, ...own }: Operation, summary: string): Operation {
  const description = 'The answer is that of the session’s own path.'
  return {
    ...own,
    path: path.replace('{session_id}', '{session_id}/children/{child_id}'),
    ...(shows && { shows: 'child_id' as const }),
    summary,
    description,
    errors: { ...own.errors, ...errors },
  }
}

export const playgroundChildren = operations({
  getPlaygroundChild: below(playground.getPlaygroundSession, 'Read a session below another one'),
  listPlaygroundChildMessages: below(
    playground.listPlaygroundMessages,
    'Read the messages of a session below another one',
  ),
  resumePlaygroundChild: below(playground.resumePlaygroundChat, 'Follow a reply of a session below another one'),
  cancelPlaygroundChild: below(playground.cancelPlaygroundChat, 'Cancel a reply of a session below another one'),
})
