/** Agents: a configured model with a system prompt and generation settings. */
import type { GenerationConfig } from '../../actors/ports.ts'
import type { AnySql } from '../postgres/database.ts'
import { type Fragment, listByAge, type Page, type PageQuery, timestamps } from '../postgres/page.ts'
import { isUuid } from '../postgres/uuid.ts'

/** Times are ISO 8601 UTC. */
export interface Agent {
  id: string
  name: string
  providerId: string
  model: string
  promptId: string | null
  generationConfig: GenerationConfig
  /** Origins whose pages may call its deploy API. */
  allowedOrigins: string[]
  createdAt: string
  updatedAt: string
}

export interface NewAgent {
  name: string
  providerId: string
  model: string
  promptId: string | null
  generationConfig: GenerationConfig
  allowedOrigins: string[]
}

/** Absent fields keep their value; `generationConfig` and `allowedOrigins` are replaced as a whole. */
export type AgentChanges = { [Field in keyof NewAgent]?: NewAgent[Field] | undefined }

const columns = (sql: AnySql): Fragment => sql`
  id, name, provider_id as "providerId", model, prompt_id as "promptId",
  generation_config as "generationConfig", allowed_origins as "allowedOrigins", ${timestamps(sql)}`

/** Oldest first. */
export const listAgents = (sql: AnySql, query: PageQuery): Promise<Page<Agent>> =>
  listByAge<Agent>(sql, 'agents', columns(sql), query)

/** Null: no such agent. */
export async function findAgent(sql: AnySql, id: string): Promise<Agent | null> {
  if (!isUuid(id)) return null
  const [agent] = await sql<Agent[]>`select ${columns(sql)} from agents where id = ${id}`
  return agent ?? null
}

/** Ids are UUIDs. Rejects with the constraint `agents_provider` or `agents_prompt` if there is no such row. */
export async function createAgent(sql: AnySql, agent: NewAgent): Promise<Agent> {
  const [created] = await sql<Agent[]>`
    insert into agents (name, provider_id, model, prompt_id, generation_config, allowed_origins)
    values (${agent.name}, ${agent.providerId}, ${agent.model}, ${agent.promptId},
      ${JSON.stringify(agent.generationConfig)}::text::jsonb, ${agent.allowedOrigins}::text[])
    returning ${columns(sql)}`
  if (created === undefined) throw new Error('The new agent was not returned.')
  return created
}

/** Null: no such agent. Rejects like `createAgent`. */
export async function updateAgent(sql: AnySql, id: string, changes: AgentChanges): Promise<Agent | null> {
  if (!isUuid(id)) return null
  const { name, providerId, model, promptId, generationConfig, allowedOrigins } = changes
  const config = generationConfig === undefined ? null : JSON.stringify(generationConfig)
  const [updated] = await sql<Agent[]>`
    update agents set
      name = coalesce(${name ?? null}, name),
      provider_id = coalesce(${providerId ?? null}, provider_id),
      model = coalesce(${model ?? null}, model),
      prompt_id = case when ${promptId !== undefined} then ${promptId ?? null} else prompt_id end,
      generation_config = coalesce(${config}::text::jsonb, generation_config),
      allowed_origins = coalesce(${allowedOrigins ?? null}::text[], allowed_origins),
      updated_at = clock_timestamp()
    where id = ${id}
    returning ${columns(sql)}`
  return updated ?? null
}

/** Names of the agents that use a provider or a prompt, oldest first: at most `most`, and the total number. */
export async function agentsUsing(
  sql: AnySql,
  column: 'provider_id' | 'prompt_id',
  id: string,
  most: number,
): Promise<{ names: string[]; total: number }> {
  const rows = await sql<{ name: string; total: number }[]>`
    select name, (count(*) over ())::integer as total from agents
    where ${sql(column)} = ${id} order by num limit ${most}`
  return { names: rows.map(({ name }) => name), total: rows[0]?.total ?? 0 }
}

/** Which of these agents no longer exist. */
export async function missingAgents(sql: AnySql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select wanted.id from unnest(${ids}::uuid[]) as wanted (id)
     where not exists (select 1 from agents a where a.id = wanted.id)`
  return rows.map(({ id }) => id)
}
