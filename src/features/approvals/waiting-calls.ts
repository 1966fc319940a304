/**
 * Pending calls (contract section 15): the calls of a turn that wait, and the calls that were decided since. Nothing waits in
 * memory: all of it is stored when the reply ends, and a later reply continues from there.
 */

import type { CallPolicy, Judgement } from '../../actors/generate/running.ts'
import type { Actions, Chain, Toolbox, ToolCall, ToolSpec, Wait } from '../../actors/ports/index.ts'
import type { UnmadeKind } from '../../actors/reply/reply-event.ts'
import { type AskingCall, coveredBy, type FindRemembered } from './remembered.ts'
import { pendingOf, runDecided } from './run-decided.ts'

const notApprovedHere =
  'Not approved: a call of this tool needs somebody who approves it, and here nobody can be asked. It was not made.'

/** Returns the maker of the rules for the calls of one reply. `find`: null where nothing is remembered. */
export const createCallPolicy =
  (find: FindRemembered | null) =>
  (actions: Actions): CallPolicy => {
    const { canWait, continued } = actions
    return {
      offered: (own) => withCallerTools(own, actions),
      // Where nothing is stored, the caller's calls are looked at alone, if there are any.
      considered(calls, toolbox) {
        const callers = canWait ? [] : calls.filter((call) => waitKindOf(call, toolbox, actions) === 'caller')
        return callers.length > 0 ? callers : calls
      },
      judge: (calls, toolbox, replyId) => judgeCalls(calls, { toolbox, replyId, actions, find: canWait ? find : null }),
      waitOf: (chain) => waitOf(chain, actions),
      runDecided: continued ? (toolbox, running) => runDecided(continued, toolbox, running) : null,
    }
  }

interface JudgedBy {
  toolbox: Toolbox
  replyId: string
  actions: Actions
  find: FindRemembered | null
}

/** Judges the calls of one turn. What is remembered is read once, and only where a call would wait. */
async function judgeCalls(calls: readonly ToolCall[], by: JudgedBy): Promise<readonly Judgement[]> {
  const { toolbox, replyId, actions, find } = by
  const asked = await Promise.all(calls.map((call) => askingCall(call, toolbox, actions)))
  const waiting = asked.flatMap((one) => (one === null || one === 'caller' ? [] : [one]))
  const tools = [...new Set(waiting.map(({ tool }) => tool))]
  // A call is asked about rather than made when nothing can be read.
  const remembered = find === null || tools.length === 0 ? [] : await find(replyId, tools).catch(() => [])
  return asked.map((one): Judgement => {
    if (one === null) return null
    if (one === 'caller') return { waits: 'caller' }
    return coveredBy(one, remembered) ?? (actions.canWait ? { waits: 'approval' } : { refused: notApprovedHere })
  })
}

/** Returns what a call waits for, if it does. */
async function askingCall(call: ToolCall, toolbox: Toolbox, actions: Actions): Promise<AskingCall | 'caller' | null> {
  const kind = waitKindOf(call, toolbox, actions)
  if (kind !== 'approval') return kind
  const tool = toolbox.own?.get(call.name)?.key ?? ''
  const asking = (await toolbox.asking?.(call)) ?? [{ when: null, mayRemember: null }]
  return asking.length === 0 ? null : { call, tool, asking }
}

/** Returns all tools that are offered. The agent's own come first: they keep their names. */
function withCallerTools(own: readonly ToolSpec[], { callerTools }: Actions): readonly ToolSpec[] {
  if (callerTools.length === 0) return own
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...callerTools.filter(({ name }) => !names.has(name))]
}

/** Decides what a call waits for. Null when it is the agent's own to make, or to fail. */
function waitKindOf(
  { name }: ToolCall,
  { tools, own }: Pick<Toolbox, 'tools' | 'own'>,
  { callerTools }: Actions,
): UnmadeKind | null {
  if (tools.some((tool) => tool.name === name)) return own?.get(name)?.needsApproval ? 'approval' : null
  return callerTools.some((tool) => tool.name === name) ? 'caller' : null
}

/** Returns how a reply ends whose newest turn is not whole. Null when nothing waits. */
function waitOf(chain: Chain, { shows }: Actions): Wait | null {
  const pending = pendingOf(chain.turn)
  if (pending.length === 0) return null
  const shownKinds: Readonly<Record<string, boolean>> = { ...shows, input: shows.approval }
  const shown = pending.filter(({ kind }) => shownKinds[kind] === true)
  return { chain, shown: shown.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })) }
}
