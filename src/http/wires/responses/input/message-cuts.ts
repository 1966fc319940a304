/** The places at which the new items of a request were joined into one message, as its lists of items show them again. */
import type { MessageCuts, ResponseRequest } from '../../../../actors/ports/index.ts'

export type Cuts = { [Kind in keyof Required<MessageCuts>]: number[] }

/** The maximum number of places that are stored with a message. Beyond it the message is shown as it is stored. */
const MOST_CUTS = 1000

/** Returns the request with the places that are stored. */
export function withCuts<Request extends ResponseRequest>(request: Request, { messages, texts }: Cuts): Request {
  const count = messages.length + texts.length
  if (count === 0 || count > MOST_CUTS) return request
  return { ...request, cuts: { ...(messages.length > 0 && { messages }), ...(texts.length > 0 && { texts }) } }
}
