/** Reports a tool call to the observer. */

import type { Toolbox } from '../ports/index.ts'
import type { ObservedToolCall, ReplyObserver } from '../ports/observer.ts'

/** Rejects as the call does; that counts as a failure too. */
export async function observedCall(
  observer: ReplyObserver,
  call: ObservedToolCall,
  work: () => ReturnType<Toolbox['call']>,
): ReturnType<Toolbox['call']> {
  const observed = observer.toolCall(call)
  let ok = false
  try {
    const result = await observed.within(work)
    ok = result.ok
    return result
  } finally {
    observed.on({ type: 'ended', ok })
  }
}
