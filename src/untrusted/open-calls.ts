/** Tool calls that wait for their results in a conversation that a caller brings: thousands, in any order, ids repeated. */

interface OpenCalls<Call> {
  add(id: string, call: Call): void
  /** Returns the first call of this id that is still open, which closes it. Undefined when there is none. */
  close(id: string): Call | undefined
  /** Returns the id of one that is still open. Undefined when there is none. */
  first(): string | undefined
}

/**
 * Creates the list of open calls. Each step costs the same however many are open: searching a list took seconds for 11,000
 * results in reverse order.
 */
export function openCalls<Call>(): OpenCalls<Call> {
  const byId = new Map<string, { calls: Call[]; closed: number }>()
  return {
    add(id, call) {
      const known = byId.get(id)
      if (known) known.calls.push(call)
      else byId.set(id, { calls: [call], closed: 0 })
    },
    close(id) {
      const known = byId.get(id)
      const call = known?.calls[known.closed++]
      if (known?.closed === known?.calls.length) byId.delete(id)
      return call
    },
    first: () => byId.keys().next().value,
  }
}
