/** A tool call as whoever measures replies sees it. */
import type { ReplyObserver } from './observer.ts'
import type { Toolbox, ToolCall } from './ports.ts'

/** Rejects as the call does; that counts as a failure too. */
export async function observedCall(
  observer: ReplyObserver,
  call: ToolCall,
  work: () => ReturnType<Toolbox['call']>,
): ReturnType<Toolbox['call']> {
  const observed = observer.toolCall(call)
  let ok = false
  try {
    const result = await observed.within(work)
    ok = result.ok
    return result
  } finally {
    observed.ended(ok)
  }
}
