/** Agents: a configured model with a system prompt and generation settings. */
import type { GenerationConfig, Limits, ResponseFormat } from '../../actors/ports/index.ts'
import { exactObject, parseExact } from '../../untrusted/exact-json.ts'
import type { AnySql, Tx } from '../postgres/database.ts'
import { type Fragment, timestamps } from '../postgres/page.ts'
import { isUuid } from '../postgres/uuid.ts'
import { readRecords, recordTable } from '../record-table.ts'

/** Another model, asked when the one before fails. */
export interface Fallback {
  providerId: string
  model: string
}

/** Treatments of a request's own system messages: `append` puts them after the agent's prompt. */
export const callerInstructions = ['refuse', 'append', 'responses'] as const
export type CallerInstructions = (typeof callerInstructions)[number]

/** Treatments of a history that comes near its budget: `auto` summarises its older part, `none` cuts it. */
export const compactions = ['none', 'auto'] as const
export type Compaction = (typeof compactions)[number]
/** The treatment of a running reply whose instance is lost. */
export type OnLoss = 'error' | 'continue'
/** The fate of a reply without the tools of an MCP server: it goes on and tells the model, or it fails. */
export type OnMissingTools = 'tell' | 'fail'

/** Times are ISO 8601 UTC. */
export interface Agent {
  id: string
  name: string
  providerId: string
  model: string
  promptId: string | null
  /** A prompt text of its own. Null when it has none, or a prompt. */
  systemPrompt: string | null
  generationConfig: GenerationConfig
  responseFormat: ResponseFormat | null
  /** The fallbacks in the order in which they are called. */
  fallbacks: Fallback[]
  /** Origins whose pages may call its deploy API. */
  allowedOrigins: string[]
  /** Whether client secrets may share the sessions of their user. */
  allowSharing: boolean
  /** Limit of the history. Null stands for the installation's setting. */
  historyMaxTokens: number | null
  callerInstructions: CallerInstructions
  /** Limits of each of the agent's users. Null when there are none. */
  userLimits: Limits | null
  compaction: Compaction
  onLoss: OnLoss
  onMissingTools: OnMissingTools
  /** Number of the live version. */
  version: number
  hasDraft: boolean
  createdAt: string
  updatedAt: string
}

type Defaulted =
  | 'allowSharing'
  | 'systemPrompt'
  | 'callerInstructions'
  | 'userLimits'
  | 'compaction'
  | 'onLoss'
  | 'onMissingTools'

/**
 * An agent before it is stored. A field that is absent is stored with its default: `allowSharing` is false, there is no
 * `systemPrompt`, `callerInstructions` is `responses`, there are no `userLimits`, `compaction` is `none`, `onLoss` is
 * `error`, and `onMissingTools` is `tell`.
 */
export type NewAgent = Omit<Agent, 'id' | 'version' | 'hasDraft' | 'createdAt' | 'updatedAt' | Defaulted> & {
  [Field in Defaulted]?: Agent[Field] | undefined
}

/** Absent fields keep their value; `generationConfig`, `fallbacks` and `allowedOrigins` are replaced as a whole. */
export type AgentChanges = { [Field in keyof NewAgent]?: NewAgent[Field] | undefined }

const columns = (sql: AnySql): Fragment => sql`
  id, name, provider_id as "providerId", model, prompt_id as "promptId",
  system_prompt as "systemPrompt", generation_config as "generationConfig", response_format::text as "responseFormat",
  (select coalesce(json_agg(json_build_object('providerId', f.provider_id, 'model', f.model) order by f.place), '[]')
     from agent_fallbacks f where f.agent_id = id) as fallbacks,
  allowed_origins as "allowedOrigins", allow_sharing as "allowSharing", history_max_tokens as "historyMaxTokens",
  caller_instructions as "callerInstructions", user_limits as "userLimits", compaction, on_loss as "onLoss",
  on_missing_tools as "onMissingTools",
  coalesce((select max(v.number) from agent_versions v where v.agent_id = id), 0) as version,
  exists (select from agent_drafts d where d.agent_id = id) as "hasDraft", ${timestamps(sql)}`

/** An agent as it is selected: its format is read as text, since the driver's numbers lose digits. */
type Row = Omit<Agent, 'responseFormat'> & { responseFormat: string | null }

/** Reads a stored format. The numbers of its schema keep their digits. */
export const readFormat = (text: string | null): ResponseFormat | null =>
  text === null ? null : Object(parseExact(text))

/** Returns a format of `parseNoted` with the digits of its schema, as `readFormat` does. */
export function exactFormat<Format extends ResponseFormat | null | undefined>(format: Format): Format {
  if (format?.type !== 'json_schema' || format.json_schema.schema === undefined) return format
  return { ...format, json_schema: { ...format.json_schema, schema: exactObject(format.json_schema.schema) } }
}

export const { list: listAgents, find: findAgent } = readRecords(
  recordTable<Row>('agents', columns),
  ({ responseFormat, ...agent }): Agent => ({ ...agent, responseFormat: readFormat(responseFormat) }),
)

/** Locks an agent as its deletion does, until the end of the transaction. */
export async function lockAgent(tx: Tx, id: string): Promise<void> {
  await tx`select 1 from agents where id = ${id} for update`
}

/**
 * Creates an agent. Ids are UUIDs. Rejects with the constraint `agents_provider`, `agents_prompt` or
 * `agent_fallbacks_provider` if there is no such row.
 */
export async function createAgent(tx: Tx, agent: NewAgent): Promise<Agent> {
  const { name, providerId, model, promptId, generationConfig, responseFormat, fallbacks, allowedOrigins } = agent
  const { historyMaxTokens } = agent
  const [created] = await tx<{ id: string }[]>`
    insert into agents (name, provider_id, model, prompt_id, system_prompt, generation_config, response_format, allowed_origins,
                        history_max_tokens, caller_instructions, user_limits, compaction, on_loss, on_missing_tools,
                        allow_sharing)
    values (${name}, ${providerId}, ${model}, ${promptId}, ${agent.systemPrompt ?? null}, ${JSON.stringify(generationConfig)}::text::jsonb,
      ${jsonOf(responseFormat)}::text::json, ${allowedOrigins}::text[], ${historyMaxTokens},
      ${agent.callerInstructions ?? 'responses'}, ${jsonOf(agent.userLimits)}::text::jsonb,
      ${agent.compaction ?? 'none'}, ${agent.onLoss ?? 'error'}, ${agent.onMissingTools ?? 'tell'},
      ${agent.allowSharing ?? false})
    returning id`
  const id = created?.id ?? ''
  await insertFallbacks(tx, id, fallbacks)
  const found = await findAgent(tx, id)
  if (found === null) throw new Error('The new agent was not returned.')
  return found
}

/** Changes an agent. Null when there is no such agent. Rejects like `createAgent`. */
export async function updateAgent(tx: Tx, id: string, changes: AgentChanges): Promise<Agent | null> {
  if (!isUuid(id)) return null
  const { name, providerId, model, promptId, generationConfig, responseFormat, fallbacks, allowedOrigins } = changes
  const { historyMaxTokens, systemPrompt } = changes
  const config = generationConfig === undefined ? null : JSON.stringify(generationConfig)
  const { count } = await tx`
    update agents set
      name = coalesce(${name ?? null}, name),
      provider_id = coalesce(${providerId ?? null}, provider_id),
      model = coalesce(${model ?? null}, model),
      prompt_id = case when ${promptId !== undefined} then ${promptId ?? null} else prompt_id end,
      system_prompt = case when ${systemPrompt !== undefined} then ${systemPrompt ?? null} else system_prompt end,
      generation_config = coalesce(${config}::text::jsonb, generation_config),
      response_format = case when ${responseFormat !== undefined} then ${jsonOf(responseFormat)}::text::json
                             else response_format end,
      allowed_origins = coalesce(${allowedOrigins ?? null}::text[], allowed_origins),
      allow_sharing = coalesce(${changes.allowSharing ?? null}::boolean, allow_sharing),
      history_max_tokens = case when ${historyMaxTokens !== undefined} then ${historyMaxTokens ?? null}::integer
                                else history_max_tokens end,
      caller_instructions = coalesce(${changes.callerInstructions ?? null}, caller_instructions),
      user_limits = case when ${changes.userLimits !== undefined} then ${jsonOf(changes.userLimits)}::text::jsonb
                         else user_limits end,
      compaction = coalesce(${changes.compaction ?? null}, compaction),
      on_loss = coalesce(${changes.onLoss ?? null}, on_loss),
      on_missing_tools = coalesce(${changes.onMissingTools ?? null}, on_missing_tools),
      updated_at = clock_timestamp()
    where id = ${id}`
  if (count === 0) return null
  if (fallbacks !== undefined) {
    await tx`delete from agent_fallbacks where agent_id = ${id}`
    await insertFallbacks(tx, id, fallbacks)
  }
  return findAgent(tx, id)
}

const jsonOf = (value: object | null | undefined): string | null => (value ? JSON.stringify(value) : null)

async function insertFallbacks(tx: Tx, agentId: string, fallbacks: readonly Fallback[]): Promise<void> {
  if (fallbacks.length === 0) return
  await tx`
    insert into agent_fallbacks (agent_id, place, provider_id, model)
    select ${agentId}, f.place - 1, f.provider_id, f.model
      from unnest(${fallbacks.map(({ providerId }) => providerId)}::uuid[], ${fallbacks.map(({ model }) => model)}::text[])
           with ordinality as f (provider_id, model, place)`
}

/**
 * Returns the names of the agents that use a provider or a prompt, their drafts included, oldest first: at most `most`,
 * and the total number.
 */
export async function agentsUsing(
  sql: AnySql,
  kind: 'provider' | 'prompt',
  id: string,
  most: number,
): Promise<{ names: string[]; total: number }> {
  const uses =
    kind === 'prompt'
      ? sql`(prompt_id = ${id} or id in (select agent_id from agent_drafts where prompt_id = ${id}))`
      : sql`(provider_id = ${id} or id in (select agent_id from agent_fallbacks where provider_id = ${id}
                                           union all select agent_id from agent_draft_providers where provider_id = ${id}))`
  const rows = await sql<{ name: string; total: number }[]>`
    select name, (count(*) over ())::integer as total from agents
    where ${uses} order by num limit ${most}`
  return { names: rows.map(({ name }) => name), total: rows[0]?.total ?? 0 }
}

/** Returns the ids of those agents that no longer exist. */
export async function missingAgents(sql: AnySql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select wanted.id from unnest(${ids}::uuid[]) as wanted (id)
     where not exists (select 1 from agents a where a.id = wanted.id)`
  return rows.map(({ id }) => id)
}

/** Locks these agents against deletion until the end of the transaction, and returns the ids of those that exist. */
export async function lockAgents(sql: AnySql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from agents where id = any (${[...ids]}::uuid[]) order by id for key share`
  return rows.map(({ id }) => id)
}
