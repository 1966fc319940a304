/** The message of a user that the new items of an input make (contract section 24). Throws 400. */
import type { SentMessage } from '../../../../features/parts/index.ts'
import { badRequest } from '../../../server/http-error.ts'
import type { InputItem } from './input-items.ts'

/** Joins the new items into one user message. */
export function newMessage(fresh: readonly InputItem[]): SentMessage {
  const message: SentMessage = { text: '', parts: [] }
  let isFirst = true
  for (const item of fresh) {
    if (item.kind === 'aside' || item.kind === 'instructions') continue
    if (item.kind === 'reference') return badRequest(`${item.where}.id: there is no such item`)
    if (item.kind !== 'user')
      return badRequest(`${item.where}: only messages of the user can be added to a conversation`)
    if (!isFirst) message.text += '\n\n'
    const before = message.text.length
    message.text += item.message.text
    message.parts.push(...item.message.parts.map((part) => ({ ...part, place: part.place + before })))
    isFirst = false
  }
  return isFirst ? badRequest('input: must end with a message of the user') : message
}
