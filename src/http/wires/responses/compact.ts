/**
 * Handler of `POST …/responses/compact` (contract section 32), and the items that it answers with: sealed, so that only
 * this server and this agent can read which summary they stand for.
 */
import type { components } from '../../../../openapi/generated/schema.ts'
import { compactNow } from '../../../features/compaction/index.ts'
import { callerLimits } from '../../../features/users/index.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { loadAgent } from '../../sending/agent-for-reply.ts'
import { textOfInstructions } from '../../sending/caller-instructions.ts'
import { noRetry } from '../../sending/refusals.ts'
import { badRequest, HttpError, missing } from '../../server/http-error.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import type { InputItem } from './input/input-items.ts'
import { placeByName } from './input/place.ts'
import { instructionsIn } from './input/request-fields.ts'
import { idOf, uuidIn } from './output/ids.ts'
import { usageOf } from './output/response-object.ts'
import { itemsOf } from './output/stored-items.ts'
import { readTurns, type StoredTurn } from './store/stored-inputs.ts'

const contextOf = (agentId: string): string => `compaction:${agentId.toLowerCase()}`

export async function compactResponse(
  deps: ResponseDependencies,
  agentId: string,
  body: components['schemas']['ResponseCompact'],
  { caller, request, reply }: Exchange,
) {
  const agent = await loadAgent(deps, agentId)
  const { previous_response_id: previous, input, instructions } = body
  if (input != null) {
    if (previous != null) badRequest('input: cannot stand beside previous_response_id')
    return badRequest('input: is not supported: send previous_response_id, of a response that is stored')
  }
  if (previous == null) return badRequest('previous_response_id: is required')
  const wanted = instructions == null ? {} : { instructions }
  const appended = textOfInstructions(agent, instructionsIn([], wanted, { agent, caller }), 'responses')
  const place =
    (await placeByName(deps.sql, { agentId: agent.id, caller }, { previous_response_id: previous })) ??
    missing('response')
  const { value: head } = await readTurns(deps.sql, place.sessionId, 'desc').next()
  if (head?.id !== uuidIn(previous)) throw new HttpError(409, 'Other messages follow this response.', noRetry)
  const session = { agent_id: agent.id, session_id: place.sessionId }
  const { id, throughMessageId, usage, createdAt } = await compactNow(
    deps,
    session,
    request,
    callerLimits(caller, reply),
    appended,
  )
  const behind: StoredTurn[] = []
  for await (const turn of readTurns(deps.sql, place.sessionId, 'desc')) {
    if (turn.id === throughMessageId) break
    behind.unshift(turn)
  }
  const sealed = deps.secrets.seal(JSON.stringify({ head: head.id }), contextOf(agent.id))
  const compaction = { id: idOf('cmp', id), type: 'compaction', encrypted_content: sealed }
  return {
    id: idOf('resp', id),
    object: 'response.compaction' as const,
    created_at: Math.floor(Date.parse(createdAt) / 1000),
    output: [compaction, ...behind.flatMap((turn) => itemsOf(turn, { agentId: agent.id, sessionId: place.sessionId }))],
    usage: usageOf(usage),
  }
}

/**
 * Returns the items from the last `compaction` item on, which names the message that was the head when it was made. What
 * stands before it is passed over. Throws 400 for one that cannot be opened.
 */
export function fromCompaction(
  { secrets }: Pick<ResponseDependencies, 'secrets'>,
  agentId: string,
  items: readonly InputItem[],
): readonly InputItem[] {
  const at = items.findLastIndex(({ kind }) => kind === 'compaction')
  const item = items[at]
  if (item?.kind !== 'compaction') return items
  const rest = items.slice(at + 1)
  return [
    {
      kind: 'reference',
      where: item.where,
      uuid: headOf(() => secrets.open(item.sealed, contextOf(agentId)), item.where),
    },
    ...rest,
  ]
}

function headOf(open: () => string, where: string): string {
  try {
    const content: unknown = JSON.parse(open())
    if (isObject(content) && typeof content.head === 'string') return content.head
  } catch {
    // It was sealed by another server or for another agent, or was changed.
  }
  return badRequest(
    `${where}.encrypted_content: cannot be opened: it is not of this server and this agent, or was changed`,
  )
}
