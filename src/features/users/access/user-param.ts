/** The user that a path names. */
import { badRequest } from '../../../http/server/http-error.ts'
import { brokenText } from '../../../http/server/request-body/text.ts'

/** Throws 400 for a name that the database cannot hold. */
export function refuseBrokenUser(user: string): void {
  const fault = brokenText(user)
  if (fault) badRequest(`user: ${fault}`)
}
