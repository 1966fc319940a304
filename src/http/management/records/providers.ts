/** Providers and their types (contract section 2, specification 4.3 and 4.4). */
import type { FastifyBaseLogger } from 'fastify'
import type { ProviderConnection } from '../../../actors/ports/index.ts'
import { changedSecret, recordCreation, recordDeletion, recordUpdate } from '../../../features/audit/index.ts'
import { violatedConstraint } from '../../../persistence/postgres/constraint.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import * as providers from '../../../persistence/records/providers.ts'
import { keyContext } from '../../../persistence/records/providers.ts'
import { newProvider, type ProviderType, providerChanges } from '../../server/fields/provider-input.ts'
import { conflict, missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { listAs } from '../../server/paging/list.ts'
import { deleteUnlessInUse } from './in-use.ts'

type TypeId = ProviderType['id']

/** The outcome of a connection's test. `latencyMs` in milliseconds. */
export interface ConnectionTest {
  ok: boolean
  latencyMs: number
  message: string
  models: string[]
}

interface Dependencies {
  sql: Sql
  secrets: Pick<Secrets, 'seal' | 'open'>
  providerTypes: readonly ProviderType[]
  /** Answers within `timeoutMs`. Never rejects but by a fault of the adapter. */
  testProvider(connection: ProviderConnection, options: { timeoutMs: number }): Promise<ConnectionTest>
}

const longestTestMs = 10_000

export const providerHandlers = (deps: Dependencies) => {
  const { sql, providerTypes } = deps
  return {
    listProviderTypes: () => ({ providerTypes: [...providerTypes] }),
    listProviders: ({ query }) => listAs('providers', query, (page) => providers.listProviders<TypeId>(sql, page)),
    createProvider: async ({ body, request }) => {
      const provider = newProvider(deps, body)
      return withFreeName(body.name, () =>
        recordCreation(
          sql,
          request,
          'provider',
          (tx) => providers.createProvider<TypeId>(tx, provider),
          provider.apiKey === null ? {} : { apiKey: changedSecret(false, true) },
        ),
      )
    },
    getProvider: async ({ params }) => (await providers.findProvider<TypeId>(sql, params.id)) ?? missing('provider'),
    updateProvider: async ({ params: { id }, body, request }) => {
      const decide = (stored: providers.StoredConnection) => providerChanges(deps, stored, body)
      const { apiKey } = body
      const updated = await withFreeName(body.name, () =>
        recordUpdate(sql, request, 'provider', {
          find: (tx) => providers.findProvider<TypeId>(tx, id),
          update: (tx) => providers.changeProvider<TypeId>(tx, id, decide),
          more: ({ hasApiKey }) => (apiKey === undefined ? {} : { apiKey: changedSecret(hasApiKey, apiKey !== null) }),
        }),
      )
      return updated ?? missing('provider')
    },
    deleteProvider: async ({ params: { id }, request }) => {
      const deleted = await deleteUnlessInUse(sql, 'provider', id, () =>
        recordDeletion(sql, request, 'provider', {
          find: (tx) => providers.findProvider(tx, id),
          remove: (tx) => providers.deleteProvider(tx, id),
        }),
      )
      if (!deleted) missing('provider')
    },
    testProvider: async ({ params, request }) => {
      const stored = (await providers.findConnection(sql, params.id)) ?? missing('provider')
      return testStored(deps, stored, request.log)
    },
  } satisfies Handlers<'providers'>
}

async function withFreeName<T>(name: string | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (violatedConstraint(error) !== 'providers_name_unique') throw error
    return conflict(`name: another provider is called "${name}"`)
  }
}

/** Tests a stored provider. Always resolves to an answer: what went wrong is what the caller asked about. */
async function testStored(
  { secrets, testProvider }: Dependencies,
  stored: providers.StoredConnection,
  log: FastifyBaseLogger,
): Promise<ConnectionTest> {
  const failed = (message: string): ConnectionTest => ({ ok: false, latencyMs: 0, message, models: [] })
  let apiKey: string | null
  try {
    apiKey = stored.apiKey === null ? null : secrets.open(stored.apiKey, keyContext(stored.id))
  } catch {
    return failed('The stored API key cannot be decrypted. Set it again.')
  }
  try {
    return await testProvider({ ...stored, apiKey }, { timeoutMs: longestTestMs })
  } catch (error) {
    log.error({ err: error, providerId: stored.id }, 'the test of a provider failed by a fault of ours')
    return failed('The test failed by a fault of the server.')
  }
}
