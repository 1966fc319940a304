/** Agents as completions need them: found together, remembered, and known to be as they are now. */
import type { GenerationConfig } from '../actors/ports.ts'
import { choiceOf, type ToolChoice } from './agent-tools.ts'
import type { AnySql } from './database.ts'
import { gathered } from './gathered.ts'
import type { StoredConnection } from './providers.ts'
import { isUuid } from './uuid.ts'

/** An agent, its provider's key sealed. */
export interface AgentForCompletion {
  id: string
  name: string
  model: string
  generationConfig: GenerationConfig
  /** The prompt's content. Null: no prompt. */
  system: string | null
  provider: StoredConnection
  tools: ToolChoice
  /** Version of the whole configuration that it was read from. */
  configuration: number
}

export interface AgentLookup {
  /** As it is now. Null: no such agent. */
  find(id: string): Promise<AgentForCompletion | null>
  /** As it was when it was last looked for; whoever uses it compares its `configuration`. Null: nobody remembers. */
  remembered(id: string): AgentForCompletion | null
}

/** Agents that are kept; the one that was read longest ago goes first. */
const MOST_REMEMBERED = 1000

/** Reads of many requests at a time go together. */
export function createAgentLookup(sql: AnySql): AgentLookup {
  const known = new Map<string, AgentForCompletion>()
  const readAgent = gathered(async (ids) => new Map((await forCompletion(sql, ids)).map((agent) => [agent.id, agent])))
  const readVersion = gathered(async () => new Map([['version', await configurationVersion(sql)]]))

  async function read(id: string): Promise<AgentForCompletion | null> {
    const agent = await readAgent(id)
    known.delete(id)
    if (agent === null) return null
    known.set(id, agent)
    for (const oldest of known.keys()) {
      if (known.size <= MOST_REMEMBERED) break
      known.delete(oldest)
    }
    return agent
  }

  return {
    async find(asked) {
      if (!isUuid(asked)) return null
      const id = asked.toLowerCase()
      const agent = known.get(id)
      return agent && agent.configuration === (await readVersion('version')) ? agent : read(id)
    },
    remembered: (id) => known.get(id.toLowerCase()) ?? null,
  }
}

async function configurationVersion(sql: AnySql): Promise<number> {
  const [row] = await sql<{ version: number }[]>`select version from configuration`
  if (row === undefined) throw new Error('The configuration has no version.')
  return row.version
}

const forCompletion = (sql: AnySql, ids: readonly string[]): Promise<AgentForCompletion[]> =>
  sql<AgentForCompletion[]>`
    select a.id, a.name, a.model, a.generation_config as "generationConfig", prompt.content as system,
      jsonb_build_object('id', p.id, 'type', p.provider_type, 'baseUrl', p.base_url, 'apiKey', p.api_key) as provider,
      ${choiceOf(sql)} as tools, (select version from configuration) as configuration
    from agents a join providers p on p.id = a.provider_id left join prompts prompt on prompt.id = a.prompt_id
    where a.id = any (${[...ids]}::uuid[])`
