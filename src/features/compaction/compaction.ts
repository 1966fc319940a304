/** The conversation of a generation, and the summaries of its older turns (contract section 19). */

import { openWithin, type Running } from '../../actors/generate/running.ts'
import {
  compacted,
  createComposer,
  fixedTokens,
  type Sending,
  type Summarising,
  type Told,
} from '../../actors/history/conversation.ts'
import type { Checkpoint, ToolSpec } from '../../actors/ports/index.ts'
import { withCallerTools } from '../approvals/waiting-calls.ts'
import { asking } from './sent-summary.ts'
import { askForSummary, type Summary } from './summary.ts'

/** A summary, and what it covers: so many turns, the last message of which has this position. */
export type Made = Summary & Pick<Summarising, 'covered' | 'position'>

/** Or why there is none. */
export type Summarised = Made | { failed: string }

/** Creates the compaction of a generation. `first`: null when it has no conversation. */
export function createCompaction(first: Told | null) {
  let told = first
  let tools: readonly ToolSpec[] = []
  let due: Summarising | null = null
  return {
    told: () => told,
    /** Returns whether the history is to be summarised before it is sent with these tools. Once a reply. */
    isDue(sending: Sending, offered: readonly ToolSpec[]): boolean {
      if (!told?.compacts || due !== null) return false
      tools = offered
      due = sending.summarising(asking)
      return due !== null
    },
    /** Asks for the summary that is due, else for one of all. */
    async ask(running: Running): Promise<Summarised> {
      if (due === null && told !== null) {
        tools = await toolsOf(running)
        due = createComposer(told.conversation).summarising(Number.POSITIVE_INFINITY, 0, asking)
      }
      if (due === null) return { failed: 'There is nothing to summarise.' }
      const { messages, history, covered, position } = due
      const summary = await askForSummary({ messages, tools, ...(history && { history }) }, running)
      return 'failed' in summary ? summary : { ...summary, covered, position }
    },
    /** Continues a conversation (see `Generation`). `system`: the prompt with which the history is cut. */
    goOn(system: string | null, made: { covered: number; checkpoint: Checkpoint } | null): void {
      if (told === null) return
      const { conversation: before, maxTokens } = told
      const conversation =
        made === null
          ? createComposer(before).cut(maxTokens, fixedTokens({ system, tools }))
          : compacted(before, made.covered, made.checkpoint)
      told = { ...told, conversation }
    },
  }
}

async function toolsOf(running: Running): Promise<readonly ToolSpec[]> {
  const { request, actions } = running
  const mayCall = (request.config.maxToolCalls ?? 1) > 0 || actions.continued !== undefined
  return withCallerTools(mayCall ? (await openWithin(running)).tools : [], actions)
}
