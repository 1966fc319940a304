/** Agents (contract section 2, specification 4.6). */
import type { components } from '../../../../openapi/generated/schema.ts'
import { changesOf, recordChange, recordCreation, recordUpdate } from '../../../features/audit/index.ts'
import { givenLimits, useOfUsers, withPriceWarning } from '../../../features/limits/index.ts'
import { changeDraftedAgent, draftedAgent, forgetToolInDrafts, makeVersion } from '../../../features/versions/index.ts'
import { violatedConstraint } from '../../../persistence/postgres/constraint.ts'
import type { AnySql, Sql, Tx } from '../../../persistence/postgres/database.ts'
import { isUuid } from '../../../persistence/postgres/uuid.ts'
import * as agents from '../../../persistence/records/agents.ts'
import type { FieldRefusal } from '../../sending/agent-for-reply.ts'
import { checkAnswerFields, givenConfig, givenFormat } from '../../sending/given-answer-fields.ts'
import { givenOrigins } from '../../server/fields/allowed-origins.ts'
import { givenPrompt } from '../../server/fields/given-prompt.ts'
import { badRequest, missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { listAs } from '../../server/paging/list.ts'
import { choicesWith, recordsNaming } from './dependents.ts'

/** Runs a deletion in the transaction that records it. */
export type DeleteInTransaction = <Deleted extends object>(
  remove: (tx: Tx) => Promise<Deleted | null>,
) => Promise<Deleted | null>

interface Dependencies {
  sql: Sql
  fieldRefusal: FieldRefusal
  /** Cancels the agent's running replies, then removes it and its sessions. False when there was no such agent. */
  onAgentDelete(agentId: string, inTransaction: DeleteInTransaction): Promise<boolean>
}

interface References {
  providerId?: string | undefined
  promptId?: string | null | undefined
  fallbacks?: readonly { providerId: string }[] | null | undefined
}

export const agentHandlers = ({ sql, fieldRefusal, onAgentDelete }: Dependencies) => {
  // A change reads this before its commit: if the reading failed afterwards, 503 would say that nothing is stored.
  const shown = (from: AnySql, agent: agents.Agent) => withPriceWarning(from, agent, agent.userLimits, [agent.id])
  return {
    listAgents: ({ query }) =>
      listAs('agents', query, async (page) => {
        const { items, total } = await agents.listAgents(sql, page)
        return { items: await Promise.all(items.map((agent) => shown(sql, agent))), total }
      }),
    createAgent: async ({ body, request }) => {
      return await withKnownReferences(body, () =>
        recordCreation(sql, request, 'agent', async (tx) => {
          const created = await agents.createAgent(tx, {
            name: body.name,
            providerId: body.providerId,
            model: body.model,
            promptId: body.promptId ?? null,
            systemPrompt: givenPrompt(body).systemPrompt ?? null,
            generationConfig: givenConfig(body.generationConfig),
            responseFormat: givenFormat(body.responseFormat),
            fallbacks: body.fallbacks ?? [],
            allowedOrigins: givenOrigins(body.allowedOrigins) ?? [],
            allowSharing: body.allowSharing,
            historyMaxTokens: body.historyMaxTokens ?? null,
            callerInstructions: body.callerInstructions ?? 'responses',
            userLimits: givenLimits(body.userLimits),
            compaction: body.compaction ?? 'none',
            onLoss: body.onLoss ?? 'error',
            onMissingTools: body.onMissingTools ?? 'tell',
          })
          await checkAnswerFields(tx, fieldRefusal, created)
          return await shown(tx, { ...created, version: await makeVersion(tx, created.id) })
        }),
      )
    },
    getAgent: async ({ params, query }) =>
      query.draft === 'true'
        ? await draftedAgent(sql, params.id)
        : await shown(sql, (await agents.findAgent(sql, params.id)) ?? missing('agent')),
    listUserUses: async ({ params, query: { user, ...query } }) => {
      const agent = (await agents.findAgent(sql, params.id)) ?? missing('agent')
      return await listAs('users', query, (page) => useOfUsers(sql, agent.id, { ...page, user: user ?? null }))
    },
    updateAgent: async ({ params, query, body, request }) => {
      const changes = changesIn(body)
      const { providerId, model, responseFormat, generationConfig } = body
      const isOfConcern = [providerId, model, responseFormat, generationConfig].some((value) => value !== undefined)
      const check = async (tx: Tx, changed: agents.Agent) => {
        if (isOfConcern) await checkAnswerFields(tx, fieldRefusal, changed)
      }
      if (query.draft === 'true')
        return await withKnownReferences(body, () => changeDraftedAgent({ sql, request }, params.id, changes, check))
      const updated = await withKnownReferences(body, () =>
        recordUpdate(sql, request, 'agent', {
          find: (tx) => agents.findAgent(tx, params.id),
          async update(tx) {
            const changed = await agents.updateAgent(tx, params.id, changes)
            if (changed === null) return null
            await check(tx, changed)
            return await shown(tx, { ...changed, version: await makeVersion(tx, changed.id) })
          },
        }),
      )
      return updated ?? missing('agent')
    },
    deleteAgent: async ({ params: { id }, request }) => {
      const deletion: DeleteInTransaction = (remove) =>
        recordChange(sql, request, 'agent', async (tx) => {
          const before = await agents.findAgent(tx, id)
          const changing = [...(await recordsNaming(tx, id)), ...(await choicesWith(tx, id))]
          const result = await remove(tx)
          if (result) await forgetToolInDrafts(tx, id)
          return { before: result && before, after: null, result, others: await changesOf(changing) }
        })
      if (!isUuid(id) || !(await onAgentDelete(id, deletion))) missing('agent')
    },
  } satisfies Handlers<'agents'>
}

/**
 * Writes, and answers 400 for unknown references. The foreign keys decide, so that a provider deleted at this moment is
 * 400 and not 500.
 */
async function withKnownReferences<T>(references: References, write: () => Promise<T>): Promise<T> {
  const { providerId, promptId, fallbacks } = references
  for (const [index, fallback] of (fallbacks ?? []).entries()) {
    if (!isUuid(fallback.providerId)) badRequest(`fallbacks.${index}.providerId: there is no such provider`)
  }
  if (providerId !== undefined && !isUuid(providerId)) unknownReference('provider')
  if (promptId !== undefined && promptId !== null && !isUuid(promptId)) unknownReference('prompt')
  try {
    return await write()
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === 'agents_provider') return unknownReference('provider')
    if (constraint === 'agent_fallbacks_provider') return badRequest('fallbacks: there is no such provider')
    if (constraint === 'agent_draft_providers_provider')
      return badRequest(`${providerId === undefined ? 'fallbacks' : 'providerId'}: there is no such provider`)
    if (constraint === 'agents_prompt' || constraint === 'agent_drafts_prompt') return unknownReference('prompt')
    throw error
  }
}

const unknownReference = (kind: 'provider' | 'prompt'): never => badRequest(`${kind}Id: there is no such ${kind}`)

/** Returns what an update changes: null stands for a field's default. */
function changesIn(body: components['schemas']['AgentUpdate']): agents.AgentChanges {
  const {
    generationConfig: config,
    responseFormat: format,
    fallbacks,
    allowedOrigins,
    callerInstructions,
    userLimits,
    compaction,
    onLoss,
    onMissingTools,
    ...rest
  } = body
  return {
    ...rest,
    ...givenPrompt(body),
    generationConfig: config === undefined ? undefined : givenConfig(config),
    responseFormat: format === undefined ? undefined : givenFormat(format),
    fallbacks: fallbacks === undefined ? undefined : (fallbacks ?? []),
    allowedOrigins: givenOrigins(allowedOrigins),
    callerInstructions: callerInstructions === undefined ? undefined : (callerInstructions ?? 'responses'),
    userLimits: givenLimits(userLimits),
    compaction: compaction === undefined ? undefined : (compaction ?? 'none'),
    onLoss: onLoss === undefined ? undefined : (onLoss ?? 'error'),
    onMissingTools: onMissingTools === undefined ? undefined : (onMissingTools ?? 'tell'),
  }
}
