/** The summaries that callers keep (contract section 32): sealed, so that only this server and this agent can read them. */

import type { GivenSummary } from '../../../../actors/ports/index.ts'
import { isObject } from '../../../../untrusted/is-object.ts'
import { badRequest } from '../../../server/http-error.ts'
import type { ResponseDependencies } from '../exchange.ts'
import type { InputItem } from './input-items.ts'

/** `head`: the message that was the head when a stored conversation was summarised. Null for one that is stored nowhere. */
interface Sealed extends GivenSummary {
  head: string | null
}

type Secrets = Pick<ResponseDependencies, 'secrets'>

const contextOf = (agentId: string): string => `compaction:${agentId.toLowerCase()}`

/** Returns the `encrypted_content` of a `compaction` item. */
export const sealSummary = ({ secrets }: Secrets, agentId: string, { head, text, model }: Sealed): string =>
  secrets.seal(JSON.stringify({ head, text, model }), contextOf(agentId))

/**
 * Returns the items from the last `compaction` item on: what stands before it is passed over. `isStored`: it may name a
 * place that is stored, which a reference then stands for. Otherwise its summary stands before the items. Throws 400 for one
 * that cannot be opened.
 */
export function openSummary(
  { secrets }: Secrets,
  agentId: string,
  items: readonly InputItem[],
  { isStored }: { isStored: boolean },
): { summary: GivenSummary | null; items: readonly InputItem[] } {
  const at = items.findLastIndex(({ kind }) => kind === 'compaction')
  const item = items[at]
  if (item?.kind !== 'compaction') return { summary: null, items }
  const rest = items.slice(at + 1)
  const { head, text, model } = contentOf(() => secrets.open(item.sealed, contextOf(agentId)), item.where)
  if (!isStored || head === null) return { summary: { text, model }, items: rest }
  return { summary: null, items: [{ kind: 'reference', where: item.where, uuid: head }, ...rest] }
}

function contentOf(open: () => string, where: string): Sealed {
  try {
    const content: unknown = JSON.parse(open())
    if (isObject(content)) {
      const { head = null, text, model } = content
      const isHead = head === null || typeof head === 'string'
      if (isHead && typeof text === 'string' && typeof model === 'string') return { head, text, model }
    }
  } catch {
    // It was sealed by another server or for another agent, or was changed.
  }
  return badRequest(
    `${where}.encrypted_content: cannot be opened: it is not of this server and this agent, or was changed`,
  )
}

/** Refuses a summary of what is stored nowhere behind messages that are. Throws 400. */
export function refuseBehindPlace(
  summary: GivenSummary | null,
  { previous_response_id: previous = null, conversation = null }: Readonly<Record<string, unknown>>,
): void {
  if (summary === null) return
  const name = previous === null ? 'conversation' : 'previous_response_id'
  if (previous !== null || conversation !== null) {
    badRequest(`input: this summary begins a conversation: it cannot stand beside ${name}`)
  }
}
