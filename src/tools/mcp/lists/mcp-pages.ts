/** The end of a list of tools whose later pages go wrong: it is used as far as it came. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isObject } from '../../../untrusted/is-object.ts'

/** The most pages of one list. */
const MAX_PAGES = 100

export interface Pages {
  /** Notes a request for a page: the first one has no cursor. */
  asked(cursor: unknown): void
  /** Changes a response that would fail the list, or never let it end, to one that ends it. */
  answered(message: JSONRPCMessage, cursor: unknown): void
}

/** Creates the watch over one connection's lists. `onCut` gets the reason when a list ends before its time. */
export function createPages(onCut: (reason: string) => void): Pages {
  const cursors = new Set<unknown>()
  return {
    asked(cursor) {
      if (cursor === undefined) cursors.clear()
      else cursors.add(cursor)
    },
    answered(message, cursor) {
      if ('error' in message && cursor !== undefined) {
        const { error } = message
        Reflect.deleteProperty(message, 'error')
        Object.assign(message, { result: { tools: [] } })
        return onCut(`a later page failed: ${error.message}`)
      }
      if (!('result' in message) || !isObject(message.result)) return
      const { nextCursor } = message.result
      const isCircle = nextCursor !== undefined && cursors.has(nextCursor)
      if (!isCircle && cursors.size < MAX_PAGES) return
      delete message.result.nextCursor
      onCut(isCircle ? 'a page names the cursor of an earlier one' : `there are more than ${MAX_PAGES} pages`)
    },
  }
}
