/** Feedback as both APIs give it: what is refused, and with which words. */
import { fullWords, noRetry } from '../../../http/sending/refusals.ts'
import { badRequest, conflict, HttpError, missing } from '../../../http/server/http-error.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { StorageLimits } from '../../../persistence/replies/sessions/storage-limits.ts'
import {
  type FeedbackPlace,
  type Given,
  type NotGiven,
  putFeedback,
  removeFeedback,
  type Score,
} from '../store/feedback.ts'

export interface FeedbackDependencies {
  sql: Sql
  storage: StorageLimits
}

/**
 * Stores feedback. `counted` runs what stores something new, where that counts under a limit. Throws 400, 404, 409 and
 * 413, and what `counted` throws.
 */
export async function giveFeedback(
  { sql, storage }: FeedbackDependencies,
  place: FeedbackPlace,
  score: Score,
  counted?: (store: () => Promise<Given>) => Promise<Given>,
): Promise<Given> {
  const store = async () => givenOf(await putFeedback(sql, place, score, storage))
  if (counted === undefined) return await store()
  const looked = await putFeedback(sql, place, score, null)
  return looked === 'new' ? await counted(store) : givenOf(looked)
}

function givenOf(found: Given | NotGiven | 'new'): Given {
  switch (found) {
    case 'new':
      throw new Error('A look was taken for feedback.')
    case 'no_session':
      return missing('session')
    case 'no_message':
      return missing('message')
    case 'no_reply':
      return badRequest('message_id: is a user’s message; feedback is given on replies')
    case 'running':
      return conflict('The reply is still running.')
    case 'session_full':
    case 'user_full':
      throw new HttpError(413, fullWords[found], noRetry)
    default:
      return found
  }
}

/** Removes feedback, if there is any. Throws 404. */
export async function takeFeedbackBack(
  { sql }: Pick<FeedbackDependencies, 'sql'>,
  place: FeedbackPlace,
): Promise<void> {
  const outcome = await removeFeedback(sql, place)
  if (outcome !== 'removed') missing(outcome === 'no_session' ? 'session' : 'message')
}
