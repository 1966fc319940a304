/** Where a request puts its message in the session's tree (contract section 14): the same on every surface. */
import type { MessagePlace } from '../../actors/ports/index.ts'
import { isUuid } from '../../persistence/postgres/uuid.ts'
import { badRequest } from '../server/http-error.ts'
import { refuse } from './refusals.ts'

export interface WantedPlace {
  parentId?: string | null | undefined
  regenerate?: boolean | null | undefined
  messageId?: string | null | undefined
}

/** How a surface writes the names of fields, which are given in snake case. */
export type NameOf = (field: string) => string

export const snakeCase: NameOf = (field) => field
export const camelCase: NameOf = (field) => field.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** When undefined, after the head. Throws 400. */
export function readPlace(
  { parentId, regenerate, messageId }: WantedPlace,
  nameOf: NameOf = snakeCase,
): MessagePlace | undefined {
  if (regenerate === true) {
    if (parentId !== undefined) badRequest(`${nameOf('parent_id')}: cannot stand beside regenerate`)
    if (messageId != null && !isUuid(messageId)) refuse('unknown_message', nameOf)
    return { regenerate: messageId?.toLowerCase() ?? null }
  }
  if (messageId != null) badRequest(`${nameOf('message_id')}: can only stand beside regenerate`)
  if (parentId === undefined) return undefined
  if (parentId !== null && !isUuid(parentId)) refuse('unknown_parent', nameOf)
  return { parent: parentId?.toLowerCase() ?? null }
}
