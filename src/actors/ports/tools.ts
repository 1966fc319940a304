/** The tools of a reply. Types only. */

import type { ReplyValues } from '../../templates/placeholders.ts'
import type { ToolCall, ToolSpec } from './model.ts'

/** The tools of one reply. */
export interface Toolbox {
  readonly tools: readonly ToolSpec[]
  /**
   * Never rejects but on abort: a failure is a result that the model reads. `key` tells this call from all others, for
   * tools that must not act twice (contract section 10).
   */
  call(call: ToolCall, signal: AbortSignal, key: string): Promise<{ ok: boolean; content: string }>
}

export interface CheckedToolbox extends Toolbox {
  /** Why a call cannot be made with these arguments, in words. Null when it can. */
  check(call: Pick<ToolCall, 'name' | 'arguments'>): Promise<string | null>
}

/**
 * Gives the tools of a reply. Asked once, when its generation begins: a server that does not answer may delay the
 * reply's first word, never the answer to the request that asked for it. May reject on abort.
 */
export type OpenToolbox = (signal: AbortSignal) => Promise<Toolbox>

/** The tools of an agent, for a reply with these values. */
export type OpenToolboxFor = (signal: AbortSignal, values: ReplyValues) => Promise<Toolbox>
