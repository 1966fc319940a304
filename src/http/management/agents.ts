/** Agents (contract section 2, specification 4.6). */
import type { GenerationConfig } from '../../actors/ports.ts'
import { violatedConstraint } from '../../persistence/postgres/constraint.ts'
import type { Sql } from '../../persistence/postgres/database.ts'
import { isUuid } from '../../persistence/postgres/uuid.ts'
import * as agents from '../../persistence/records/agents.ts'
import { badRequest, missing } from '../http-error.ts'
import { listAs } from '../list.ts'
import type { Handlers } from '../mount.ts'
import { givenOrigins } from './allowed-origins.ts'

interface Rooms {
  sql: Sql
  /** Cancels the agent's running replies, then removes it and its sessions. False: there was no such agent. */
  onAgentDelete(agentId: string): Promise<boolean>
}

interface References {
  providerId?: string | undefined
  promptId?: string | null | undefined
}

export const agentHandlers = ({ sql, onAgentDelete }: Rooms) =>
  ({
    listAgents: ({ query }) => listAs('agents', query, (page) => agents.listAgents(sql, page)),
    createAgent: ({ body }) =>
      withKnownReferences(body, () =>
        agents.createAgent(sql, {
          name: body.name,
          providerId: body.providerId,
          model: body.model,
          promptId: body.promptId ?? null,
          generationConfig: givenConfig(body.generationConfig),
          allowedOrigins: givenOrigins(body.allowedOrigins) ?? [],
        }),
      ),
    getAgent: async ({ params }) => (await agents.findAgent(sql, params.id)) ?? missing('agent'),
    updateAgent: async ({ params, body }) => {
      const { generationConfig: config, allowedOrigins, ...rest } = body
      const changes = {
        ...rest,
        generationConfig: config === undefined ? undefined : givenConfig(config),
        allowedOrigins: givenOrigins(allowedOrigins),
      }
      const updated = await withKnownReferences(body, () => agents.updateAgent(sql, params.id, changes))
      return updated ?? missing('agent')
    },
    deleteAgent: async ({ params }) => {
      if (!isUuid(params.id) || !(await onAgentDelete(params.id))) missing('agent')
    },
  }) satisfies Handlers<'agents'>

/** The foreign keys decide, so that a provider deleted at this moment is 400 and not 500. */
async function withKnownReferences<T>({ providerId, promptId }: References, write: () => Promise<T>): Promise<T> {
  if (providerId !== undefined && !isUuid(providerId)) unknownReference('provider')
  if (promptId !== undefined && promptId !== null && !isUuid(promptId)) unknownReference('prompt')
  try {
    return await write()
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === 'agents_provider') return unknownReference('provider')
    if (constraint === 'agents_prompt') return unknownReference('prompt')
    throw error
  }
}

const unknownReference = (kind: 'provider' | 'prompt'): never => badRequest(`${kind}Id: there is no such ${kind}`)

type Nullable<T> = { [Field in keyof T]?: T[Field] | null | undefined }

/** Null, as a whole or inside, means absent. Only the settings that the contract knows are kept. */
export function givenConfig(input: Nullable<GenerationConfig> | null | undefined): GenerationConfig {
  const { temperature, topP, topK, maxToolCalls } = input ?? {}
  return {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
    ...(typeof topK === 'number' && { topK }),
    ...(typeof maxToolCalls === 'number' && { maxToolCalls }),
  }
}
