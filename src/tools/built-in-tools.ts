/** The tools that need no configuration (specification 2.4, contract section 6). */
import { currentTime } from './current-time.ts'
import type { Outbound } from './outbound.ts'
import { webFetch } from './web-fetch.ts'

export interface BuiltInTool {
  /** What `builtInToolIds` names. */
  id: string
  name: string
  description: string
  /** JSON Schema of an object. */
  inputSchema: Record<string, unknown>
  /** Rejects only with the signal's reason, when it aborts: everything else is a result that the model reads. */
  call(
    args: Readonly<Record<string, unknown>>,
    world: { outbound: Outbound; signal: AbortSignal },
  ): Promise<{ ok: boolean; content: string }>
}

/** In the order in which they are listed. */
export const builtInTools: readonly BuiltInTool[] = [webFetch, currentTime]
