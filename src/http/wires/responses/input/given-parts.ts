/** Pictures and files of the messages that a new session is given (contract section 32). */
import type { GivenMessage } from '../../../../actors/ports/index.ts'
import type { PreparedParts, SentPart } from '../../../../features/parts/index.ts'
import type { HistoryMessage } from './history-items.ts'

/** Returns the parts of the history's messages, in their order. */
export const partsIn = (history: readonly HistoryMessage[]): SentPart[] => history.flatMap(({ sent = [] }) => sent)

/**
 * Returns the given messages, and the parts of the newest one: those of the history are stored with them, and complete
 * the given messages before these are.
 */
export function givenWithParts(
  history: readonly HistoryMessage[],
  prepared: PreparedParts | undefined,
): { messages: GivenMessage[]; parts: PreparedParts | undefined } {
  const given = history.map(({ sent = [], ...message }) => ({ message: { ...message }, count: sent.length }))
  const messages: GivenMessage[] = given.map(({ message }) => message)
  const before = given.reduce((sum, { count }) => sum + count, 0)
  if (prepared === undefined || before === 0) return { messages, parts: prepared }
  const parts: PreparedParts = {
    ...prepared,
    identities: prepared.identities.slice(before),
    async store() {
      const stored = await prepared.store()
      let at = 0
      for (const { message, count } of given) {
        if (count > 0) message.storedParts = stored.slice(at, at + count)
        at += count
      }
      return stored.slice(before)
    },
  }
  return { messages, parts }
}
