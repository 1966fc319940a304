/** Loads what the first reply needs and the start does not. */
import type { Sql } from '../persistence/postgres/database.ts'
import { usedProviderTypes } from '../persistence/records/providers.ts'
import type { Providers } from '../providers/model.ts'
import type { OutboundOnDemand } from '../tools/outbound/outbound-on-demand.ts'

export interface WarmUpParts {
  sql: Sql
  outbound: Pick<OutboundOnDemand, 'load'>
  model: Pick<Providers, 'load'>
  log: { debug(details: object, message: string): void }
}

/** Loads the clients of the providers that are configured. Never rejects: the first call reports why one cannot be. */
export async function warmUp({ sql, outbound, model, log }: WarmUpParts): Promise<void> {
  try {
    const types = await usedProviderTypes(sql)
    if (types.some((type) => type !== 'demo')) await outbound.load()
    await model.load(types)
  } catch (err) {
    log.debug({ err }, 'Clients of providers are loaded later.')
  }
}
