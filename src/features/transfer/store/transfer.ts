/** A consistent snapshot of the whole configuration, by name, for export. */
import type { components } from '../../../../openapi/generated/schema.ts'
import type { GenerationConfig, ResponseFormat, WireApi } from '../../../actors/ports/index.ts'
import type { AnySql, Tx } from '../../../persistence/postgres/database.ts'
import {
  type CallerInstructions,
  type Compaction,
  exactFormat,
  type OnLoss,
  type OnMissingTools,
} from '../../../persistence/records/agents.ts'
import { wireApi } from '../../../persistence/records/providers.ts'
import type { HttpToolFields } from '../../../persistence/records/tools/http-tools.ts'
import type { McpServerFields } from '../../../persistence/records/tools/mcp-servers.ts'
import { type StoredApprovals, storedApprovals } from '../../../persistence/records/tools/tool-approvals.ts'
import { exactChoice } from '../../../persistence/records/tools/tool-kinds.ts'
import { parseExact, parseNoted } from '../../../untrusted/exact-json.ts'

type ProviderTypeId = components['schemas']['ProviderType']['id']

interface Named {
  id: string
  name: string
}

/** Everything oldest first; secret headers as `***`. */
export interface Configuration {
  /** `wireApi`: null where the type knows one API only. */
  providers: (Named & {
    wireApi: WireApi | null
    providerType: ProviderTypeId
    baseUrl: string | null
    hasApiKey: boolean
  })[]
  prompts: (Named & { content: string })[]
  agents: (Named & {
    provider: string
    model: string
    prompt: string | null
    systemPrompt: string | null
    generationConfig: GenerationConfig
    responseFormat: ResponseFormat | null
    fallbacks: { provider: string; model: string }[]
    allowedOrigins: string[]
    allowSharing: boolean
    historyMaxTokens: number | null
    callerInstructions: CallerInstructions
    compaction: Compaction
    onLoss: OnLoss
    onMissingTools: OnMissingTools
  })[]
  httpTools: (Named & HttpToolFields & { headers: Record<string, string> })[]
  mcpServers: (Named & McpServerFields & { headers: Record<string, string> })[]
  /** The choice of tools of each agent. */
  agentTools: (Named & { approval: StoredApprovals })[]
}

/** The lists with schemas are read as text, since the driver's numbers lose digits. */
type Row = Omit<Configuration, 'agents' | 'httpTools' | 'agentTools'> & {
  agents: string
  httpTools: string
  agentTools: string
}

/**
 * Reads the configuration in one statement, so from one snapshot. As json, not jsonb: models read a schema's properties
 * in order.
 */
export async function readConfiguration(sql: AnySql): Promise<Configuration> {
  const [row] = await sql<Row[]>`
    select
      (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'wireApi', ${wireApi(sql, sql``)},
                'providerType', provider_type, 'baseUrl', base_url, 'hasApiKey', api_key is not null) order by num), '[]')
         from providers) as providers,
      (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'content', content) order by num), '[]')
         from prompts) as prompts,
      (select coalesce(json_agg(json_build_object('id', a.id, 'name', a.name, 'provider', p.name, 'model', a.model,
                'prompt', prompt.name, 'systemPrompt', a.system_prompt, 'generationConfig', a.generation_config,
                'responseFormat', a.response_format, 'allowedOrigins', a.allowed_origins, 'allowSharing', a.allow_sharing,
                'historyMaxTokens', a.history_max_tokens,
                'callerInstructions', a.caller_instructions, 'userLimits', a.user_limits, 'compaction', a.compaction,
                'onLoss', a.on_loss, 'onMissingTools', a.on_missing_tools,
                'fallbacks', (select coalesce(json_agg(json_build_object('provider', o.name, 'model', f.model)
                                order by f.place), '[]')
                                from agent_fallbacks f join providers o on o.id = f.provider_id
                               where f.agent_id = a.id)) order by a.num), '[]')::text
         from agents a join providers p on p.id = a.provider_id left join prompts prompt on prompt.id = a.prompt_id
      ) as agents,
      (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'description', description, 'method', method,
                'url', url, 'headers', headers, 'body', body, 'inputSchema', input_schema) order by num), '[]')::text
         from http_tools) as "httpTools",
      (select coalesce(json_agg(json_build_object('id', id, 'name', name, 'transport', transport, 'url', url,
                'sendUser', send_user, 'headers', headers, 'auth', auth, 'oauthClientId', oauth_client_id) order by num), '[]')
         from mcp_servers) as "mcpServers",
      (select coalesce(json_agg(json_build_object('id', a.id, 'name', a.name, 'approval', ${storedApprovals(sql)})
                        order by a.num), '[]')::text
         from agents a) as "agentTools"`
  if (row === undefined) throw new Error('The configuration was not returned.')
  const agents: Configuration['agents'] = Object(parseNoted(row.agents))
  const agentTools: Configuration['agentTools'] = Object(parseNoted(row.agentTools))
  return {
    ...row,
    agentTools: agentTools.map((one) => ({ ...one, approval: exactChoice(one.approval) })),
    agents: agents.map((agent) => ({ ...agent, responseFormat: exactFormat(agent.responseFormat) })),
    httpTools: Object(parseExact(row.httpTools)),
  }
}

/** The place of a secret in an export; in an import it keeps the one that is there. */
export const HIDDEN = '***'

/**
 * Returns the records as exported, providers as whole ones or by name: without ids, which mean nothing elsewhere, and
 * without the providers' keys.
 */
export const exported = ({ providers, prompts, agents, httpTools, mcpServers }: Configuration, isWhole: boolean) => ({
  providers: isWhole
    ? providers.map(({ id: _, hasApiKey, ...provider }) => ({ ...provider, ...(hasApiKey && { apiKey: HIDDEN }) }))
    : providers.flatMap(({ name, wireApi }) => (wireApi === null ? [] : [{ name, wireApi }])),
  prompts: prompts.map(({ id: _, ...prompt }) => prompt),
  agents: agents.map(({ id: _, ...agent }) => agent),
  httpTools: httpTools.map(({ id: _, ...tool }) => tool),
  mcpServers: mcpServers.map(({ id: _, ...server }) => server),
})

// An arbitrary number, as that of the secrets.
const importLock = 7_236_150_003

/** Locks the configuration until the transaction ends: records that were found by name stay valid. */
export async function lockConfiguration(tx: Tx): Promise<void> {
  await tx`select pg_advisory_xact_lock(${importLock})`
  await tx`lock table providers, prompts, agents, http_tools, mcp_servers in share row exclusive mode`
}

/** Waits for an import that runs. None begins before the transaction ends. */
export const holdImports = (tx: Tx) => tx`select pg_advisory_xact_lock_shared(${importLock})`
