/** Loads what the first reply needs and the start does not. */
import type { Sql } from '../persistence/postgres/database.ts'
import { usedProviderTypes } from '../persistence/records/providers.ts'
import { hasMcpServers } from '../persistence/records/tools/mcp-servers.ts'
import type { Providers } from '../providers/model.ts'
import type { McpOnDemand } from '../tools/mcp/mcp-on-demand.ts'

export interface WarmUpParts {
  sql: Sql
  model: Pick<Providers, 'load'>
  mcp: Pick<McpOnDemand, 'load'>
  log: { debug(details: object, message: string): void }
}

/**
 * Loads the clients of the providers that are configured, and MCP support where there is a server: loaded while replies
 * run it would hold them all. Never rejects: the first call reports why one cannot be.
 */
export async function warmUp({ sql, model, mcp, log }: WarmUpParts): Promise<void> {
  try {
    await model.load(await usedProviderTypes(sql))
    if (await hasMcpServers(sql)) await mcp.load()
  } catch (err) {
    log.debug({ err }, 'Clients of providers are loaded later.')
  }
}
