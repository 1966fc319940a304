/** The tools that need no configuration (specification 2.4, contract section 6). */

import type { Outbound } from '../outbound/outbound.ts'
import { currentTime } from './current-time.ts'
import { webFetch } from './web-fetch.ts'

export interface BuiltInTool {
  /** The tool's name in `builtInToolIds`. */
  id: string
  name: string
  description: string
  /** JSON Schema of an object. */
  inputSchema: Record<string, unknown>
  /**
   * Calls the tool. `of`: who asks. Rejects only with the signal's reason, on abort. Every other outcome is a result for
   * the model.
   */
  call(
    args: Readonly<Record<string, unknown>>,
    world: { outbound: Outbound; signal: AbortSignal; of: string },
  ): Promise<{ ok: boolean; content: string }>
}

/** The built-in tools, in list order. */
export const builtInTools: readonly BuiltInTool[] = [webFetch, currentTime]
