/** Agents as completions need them: read in batches, cached, and validated by the version of the configuration. */
import type { GenerationConfig, Limits, ReplyFacts, ResponseFormat } from '../../actors/ports/index.ts'
import type { AnySql } from '../postgres/database.ts'
import { gathered } from '../postgres/gathered.ts'
import { isUuid } from '../postgres/uuid.ts'
import { type CallerInstructions, type Compaction, type OnLoss, type OnMissingTools, readFormat } from './agents.ts'
import { type StoredConnection, wireApi } from './providers.ts'
import type { ToolsOfAgent } from './tools/tool-approvals.ts'
import { choiceOf, readChoice } from './tools/tool-kinds.ts'

/** An agent; its provider's key is encrypted. */
export interface AgentForCompletion {
  id: string
  name: string
  model: string
  generationConfig: GenerationConfig
  /** Number of the version that it is, or the draft. */
  version: number | 'draft'
  /** The prompt's content, or the agent's own text. Null when there is no prompt. */
  system: string | null
  prompt: ReplyFacts['prompt']
  provider: StoredConnection
  /** The form of its answers, where a request names none. Null stands for the provider's default. */
  responseFormat: ResponseFormat | null
  fallbacks: readonly { provider: StoredConnection; model: string }[]
  tools: ToolsOfAgent
  /** Origins whose pages may call its deploy API. */
  allowedOrigins: string[]
  /** Limit of the history. Null stands for the installation's setting. */
  historyMaxTokens: number | null
  callerInstructions: CallerInstructions
  /** Limits of each of the agent's users. Null when there are none. */
  userLimits: Limits | null
  compaction: Compaction
  onLoss: OnLoss
  onMissingTools: OnMissingTools
  /** Version of the whole configuration at the time it was read. Null when nobody is to compare it. */
  configuration: number | null
}

export interface AgentLookup {
  /** Finds the current agent. Null when there is no such agent. */
  find(id: string): Promise<AgentForCompletion | null>
  /** Finds the same agent, read from the database after this call. */
  read(id: string): Promise<AgentForCompletion | null>
  /** Returns the cached agent; the caller must compare its `configuration`. Null when it is not cached. */
  remembered(id: string): AgentForCompletion | null
  /** Clears the cache. Call it before this process answers a request that may have changed the configuration. */
  forget(): void
}

/** Size of the cache; the agent that was read longest ago is evicted first. */
const MOST_REMEMBERED = 1000

/** The only instance on a database checks too, in the background: the database may be changed by hand. */
const ALONE_CHECK_MS = 1000

/**
 * Reads of concurrent requests are batched. Every `find` reads the configuration's version, unless this process is
 * `alone` on the database: then no other one can make its cache stale.
 */
export function createAgentLookup(sql: AnySql, { alone }: { alone: boolean }): AgentLookup {
  const known = new Map<string, AgentForCompletion>()
  let changes = 0
  let checkedAt = 0
  const readAgent = gathered(async (ids) => new Map((await forCompletion(sql, ids)).map((agent) => [agent.id, agent])))
  const readVersion = gathered(async () => new Map([['version', await configurationVersion(sql)]]))

  async function read(id: string): Promise<AgentForCompletion | null> {
    const before = changes
    const agent = await readAgent(id)
    known.delete(id)
    if (agent === null) return null
    if (changes === before) known.set(id, agent) // otherwise it may have been read before the change
    for (const oldest of known.keys()) {
      if (known.size <= MOST_REMEMBERED) break
      known.delete(oldest)
    }
    return agent
  }

  async function check(): Promise<void> {
    checkedAt = performance.now()
    const version = await readVersion('version')
    for (const [id, { configuration }] of known) if (configuration !== version) known.delete(id)
  }

  async function isCurrent(agent: AgentForCompletion): Promise<boolean> {
    if (!alone) return agent.configuration === (await readVersion('version'))
    if (performance.now() - checkedAt > ALONE_CHECK_MS) check().catch(() => {}) // the next check will do
    return true
  }

  return {
    async find(asked) {
      if (!isUuid(asked)) return null
      const id = asked.toLowerCase()
      const agent = known.get(id)
      return agent && (await isCurrent(agent)) ? agent : read(id)
    },
    read: async (asked) => (isUuid(asked) ? await read(asked.toLowerCase()) : null),
    remembered: (id) => known.get(id.toLowerCase()) ?? null,
    forget() {
      changes += 1
      known.clear()
    },
  }
}

async function configurationVersion(sql: AnySql): Promise<number> {
  const [row] = await sql<{ version: number }[]>`select version from configuration`
  if (row === undefined) throw new Error('The configuration has no version.')
  return row.version
}

/** An agent as it is selected: schemas are read as text, since the driver's numbers lose digits. */
type Row = Omit<AgentForCompletion, 'responseFormat' | 'tools'> & {
  version: number
  responseFormat: string | null
  tools: string
}

async function forCompletion(sql: AnySql, ids: readonly string[]): Promise<AgentForCompletion[]> {
  const rows = await sql<Row[]>`
    select a.id, a.name, a.model, a.generation_config as "generationConfig", coalesce(prompt.content, a.system_prompt) as system,
      coalesce((select max(v.number) from agent_versions v where v.agent_id = a.id), 0) as version,
      case when prompt.id is not null then jsonb_build_object('id', prompt.id, 'name', prompt.name,
        'sha256', encode(sha256(convert_to(prompt.content, 'UTF8')), 'hex')) end as prompt,
      jsonb_build_object('id', p.id, 'type', p.provider_type, 'baseUrl', p.base_url, 'apiKey', p.api_key,
        'wireApi', ${wireApi(sql, sql`p.`)}) as provider,
      a.response_format::text as "responseFormat",
      (select coalesce(jsonb_agg(jsonb_build_object('model', f.model, 'provider', jsonb_build_object(
                'id', o.id, 'type', o.provider_type, 'baseUrl', o.base_url, 'apiKey', o.api_key,
                'wireApi', ${wireApi(sql, sql`o.`)})) order by f.place), '[]')
         from agent_fallbacks f join providers o on o.id = f.provider_id where f.agent_id = a.id) as fallbacks,
      (${choiceOf(sql)} || jsonb_build_object('named', a.approval_names))::text as tools, a.allowed_origins as "allowedOrigins",
      a.caller_instructions as "callerInstructions", a.history_max_tokens as "historyMaxTokens",
      a.user_limits as "userLimits", a.compaction, a.on_loss as "onLoss",
      a.on_missing_tools as "onMissingTools",
      (select version from configuration) as configuration
    from agents a join providers p on p.id = a.provider_id left join prompts prompt on prompt.id = a.prompt_id
    where a.id = any (${[...ids]}::uuid[])`
  return rows.map(({ responseFormat, tools, ...agent }) => ({
    ...agent,
    responseFormat: readFormat(responseFormat),
    tools: readChoice(tools),
  }))
}
