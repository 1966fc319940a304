/** Handler of `POST …/responses/input_tokens` (contract section 32): the estimate of what the model would be sent. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { type Conversation, createComposer, fixedTokens } from '../../../actors/history/conversation.ts'
import { tokensOfAll } from '../../../actors/history/estimate.ts'
import { historyLimits, storedConversation } from '../../../actors/history/history.ts'
import { withOutputParts } from '../../../actors/history/message-parts.ts'
import type { Chain, DecidedCall, ModelMessage } from '../../../actors/ports/index.ts'
import { restingConversation } from '../../../features/compaction/index.ts'
import { ownFiles } from '../../../features/files/index.ts'
import {
  findAllStored,
  requireUploads,
  type SentConversation,
  unloadedMessages,
} from '../../../features/parts/index.ts'
import { callerName, userOf } from '../../../features/users/index.ts'
import { readHistory } from '../../../persistence/replies/reading/history.ts'
import { valuesWithoutSession } from '../../../templates/placeholders.ts'
import { promptToSend } from '../../../templates/prompt-template.ts'
import { loadAgent } from '../../sending/agent-for-reply.ts'
import { nameIgnored } from '../../sending/answer-fields.ts'
import { textOfInstructions } from '../../sending/caller-instructions.ts'
import { givenConversation } from '../shared/given-conversation.ts'
import type { Exchange, ResponseDependencies } from './exchange.ts'
import { beginningOf, conversationOf } from './input/history-items.ts'
import { type InputItem, readInput } from './input/input-items.ts'
import { placesNamed } from './input/named-place.ts'
import { placeOf } from './input/place.ts'
import { ignoredIn, instructionsIn, readFields, renamingFieldsInErrors } from './input/request-fields.ts'
import { openSummary, refuseBehindPlace } from './input/sealed-summary.ts'
import { refuseStored } from './stateless.ts'

type Body = components['schemas']['ResponseRequestBody']

/** A conversation, and the tokens of what stands behind its newest message. */
interface Counted {
  conversation: Conversation
  behind: number
}

export async function countInput(deps: ResponseDependencies, agentId: string, body: Body, exchange: Exchange) {
  const agent = await loadAgent(deps, agentId)
  const { caller, request, reply } = exchange
  nameIgnored(reply, ...ignoredIn(body))
  return await renamingFieldsInErrors(async () => {
    const wanted = readFields(body, agent)
    const hasInput = body.input !== undefined && body.input !== null
    const given = hasInput ? readInput(body.input, requireUploads(request)) : []
    const { summary, items } = openSummary(deps, agentId, given, { isStored: body.store !== false })
    refuseBehindPlace(summary, body)
    const instructions = textOfInstructions(
      agent,
      instructionsIn(items, wanted.response, { agent, caller }),
      'responses',
    )
    const maxTokens = agent.historyMaxTokens ?? deps.historyMaxTokens
    const { conversation, behind } = await countedIn(
      deps,
      { agentId: agent.id, body, items, summary: summary?.text ?? null, maxTokens },
      exchange,
    )
    const values = { ...valuesWithoutSession(), user: userOf(caller) }
    // Servers are not asked: only definitions that are stored here count.
    const known = await deps.openToolbox({ ...agent.tools, mcpServers: [] }, AbortSignal.timeout(5000), values)
    const tools = [...known.tools, ...(wanted.callerTools?.tools ?? [])]
    const fixed = fixedTokens({ system: promptToSend(agent.system, values, instructions), tools })
    const composer = createComposer(conversation)
    const tokens = composer.within(maxTokens, fixed).tokens + (fixed + behind) * composer.correction
    return { object: 'response.input_tokens' as const, input_tokens: Math.round(tokens), estimated: true as const }
  })
}

interface Asked {
  agentId: string
  body: Body
  items: readonly InputItem[]
  summary: string | null
  maxTokens: number
}

async function countedIn(
  deps: ResponseDependencies,
  { agentId, body, items, summary, maxTokens }: Asked,
  { caller }: Exchange,
): Promise<Counted> {
  const { sql } = deps
  const given = async (sent: SentConversation): Promise<Counted> => ({
    conversation: givenConversation(await messagesOf(deps, sent, { agentId, caller }), null, summary),
    behind: 0,
  })
  if (body.store === false) {
    refuseStored(body)
    return await given(conversationOf(items))
  }
  const by = { agentId, caller }
  const limits = historyLimits(maxTokens)
  if (items.length === 0) {
    const { named } = await placesNamed(sql, by, body)
    if (named === null) return await given([])
    const history = await readHistory(sql, named.sessionId, named.position, limits)
    return { conversation: restingConversation(history), behind: 0 }
  }
  const placed = await placeOf(sql, by, body, items)
  if (placed.kind === 'new') {
    beginningOf(items) // what it refuses
    return await given(conversationOf(items))
  }
  if (placed.kind === 'message') {
    const { place, message } = placed
    const history = await readHistory(sql, place.sessionId, place.position, limits)
    const [newest] = await messagesOf(deps, [{ role: 'user', content: message.text, parts: message.parts }], by)
    const conversation = storedConversation(history, history.messages, { content: message.text, parts: [] }, false)
    return { conversation: newest ? { ...conversation, newest: [newest] } : conversation, behind: 0 }
  }
  const { wait, calls } = placed.decisions
  if (wait === null) return await given([])
  const history = await readHistory(sql, placed.place.sessionId, { answeredBy: wait.carried.firstId }, limits)
  const { parts } = placed
  const results = withOutputParts(chainMessages(wait.carried.chain, calls), history.outputs)
  const brought = parts.length === 0 ? [] : await messagesOf(deps, [{ role: 'user', content: '', parts }], by)
  return { conversation: restingConversation(history), behind: tokensOfAll([...results, ...brought]) }
}

/** Returns the turns since the user's message, with the results that the request brings. */
function chainMessages({ turns, turn }: Chain, decided: readonly DecidedCall[]): ModelMessage[] {
  const results = turn.results.map((result, index): ModelMessage => {
    const call = turn.waiting[index]
    const output = decided.find(({ id }) => id === call?.id)?.output
    return { role: 'tool', toolCallId: call?.id ?? '', content: result ?? output ?? '' }
  })
  return [...turns, turn.answer, ...results]
}

/** Returns the messages with their parts, of which no bytes are read. */
async function messagesOf(
  { sql }: ResponseDependencies,
  sent: SentConversation,
  { agentId, caller }: Pick<Exchange, 'caller'> & { agentId: string },
): Promise<ModelMessage[]> {
  return await unloadedMessages(await findAllStored(sent, ownFiles(sql, caller, agentId)), callerName(caller))
}
