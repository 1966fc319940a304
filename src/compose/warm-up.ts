/** Loads what the first reply needs and the start does not. */
import type { Sql } from '../persistence/postgres/database.ts'
import { usedProviderTypes } from '../persistence/records/providers.ts'
import type { Providers } from '../providers/model.ts'

export interface WarmUpParts {
  sql: Sql
  model: Pick<Providers, 'load'>
  log: { debug(details: object, message: string): void }
}

/** Loads the clients of the providers that are configured. Never rejects: the first call reports why one cannot be. */
export async function warmUp({ sql, model, log }: WarmUpParts): Promise<void> {
  try {
    await model.load(await usedProviderTypes(sql))
  } catch (err) {
    log.debug({ err }, 'Clients of providers are loaded later.')
  }
}
