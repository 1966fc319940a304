/** The text of a UI client's new message: text parts, joined. */
import { isObject } from '../../untrusted/is-object.ts'
import { badRequest } from '../server/http-error.ts'

/** Throws 400 when there is none, and for a part that is no text. `where` names the field. */
export function textOfParts(parts: unknown, where: string): string {
  if (!Array.isArray(parts) || parts.length === 0) return badRequest(`${where}: must be an array of at least one part`)
  return parts
    .map((part: unknown, index) => {
      const isText = isObject(part) && part.type === 'text' && typeof part.text === 'string'
      if (!isText)
        return badRequest(`${where}.${index}: only parts of the form {"type": "text", "text": string} are supported`)
      return part.text
    })
    .join('')
}
