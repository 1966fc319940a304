/** Providers and their types (contract section 2, specification 4.3 and 4.4). */
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { ProviderConnection, WireApi } from '../../../actors/ports/index.ts'
import { changedSecret, recordCreation, recordDeletion, recordUpdate } from '../../../features/audit/index.ts'
import { violatedConstraint } from '../../../persistence/postgres/constraint.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import * as providers from '../../../persistence/records/providers.ts'
import { keyContext, type SealedKey } from '../../../persistence/records/providers.ts'
import { canBeApiKey } from '../../../untrusted/api-key.ts'
import { checkWebAddress, originOf } from '../../server/fields/web-address.ts'
import { badRequest, conflict, missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'
import { listAs } from '../../server/paging/list.ts'
import { deleteUnlessInUse } from './in-use.ts'

type TypesShown = Awaited<ReturnType<Handlers<'providers'>['listProviderTypes']>>['providerTypes']
type ProviderType = TypesShown[number]
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
  const { sql, secrets, providerTypes } = deps
  return {
    listProviderTypes: () => ({ providerTypes: [...providerTypes] }),
    listProviders: ({ query }) => listAs('providers', query, (page) => providers.listProviders<TypeId>(sql, page)),
    createProvider: async ({ body, request }) => {
      const { name, providerType, apiKey = null, baseUrl = null, wireApi } = body
      const type = typeOf(providerTypes, providerType)
      if (baseUrl !== null) checkWebAddress('baseUrl', baseUrl)
      else if (type.requiresBaseUrl) badRequest(`baseUrl: is required for ${type.id}`)
      if (apiKey === null && type.requiresApiKey) badRequest(`apiKey: is required for ${type.id}`)
      checkKey(apiKey)
      const api = givenWireApi(type, wireApi) ?? defaultWireApi(type, baseUrl)
      const id = randomUUID()
      const key = sealKey(secrets, id, apiKey)
      return withFreeName(name, () =>
        recordCreation(
          sql,
          request,
          'provider',
          (tx) => providers.createProvider(tx, { id, name, providerType, baseUrl, wireApi: api, ...key }),
          apiKey === null ? {} : { apiKey: changedSecret(false, true) },
        ),
      )
    },
    getProvider: async ({ params }) => (await providers.findProvider<TypeId>(sql, params.id)) ?? missing('provider'),
    updateProvider: async ({ params: { id }, body, request }) => {
      const decide = (stored: providers.StoredConnection) => changesOf(deps, stored, body)
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

function typeOf(types: readonly ProviderType[], id: string): ProviderType {
  return types.find((type) => type.id === id) ?? badRequest('providerType: there is no such provider type')
}

const knowsBothApis = ({ id }: ProviderType): boolean => id === 'openai' || id === 'openai-compatible'

/** Returns undefined when none is given. Throws 400 where the type knows one API only. */
function givenWireApi(type: ProviderType, given: WireApi | null | undefined): WireApi | undefined {
  if (given && !knowsBothApis(type)) badRequest(`wireApi: providers of type ${type.id} have one API only`)
  return given ?? undefined
}

/**
 * Returns the API of a provider that names none. OpenAI's newest models call tools by the Responses API alone; servers
 * of other makes may not have it.
 */
function defaultWireApi(type: ProviderType, baseUrl: string | null): WireApi | null {
  if (!knowsBothApis(type)) return null
  return type.id === 'openai' && baseUrl === null ? 'responses' : 'chat_completions'
}

/** Throws 400 for a key that no call could be made with. */
function checkKey(apiKey: string | null | undefined): void {
  if (apiKey && !canBeApiKey(apiKey))
    badRequest('apiKey: must have no spaces or line breaks, and no characters beyond ASCII')
}

interface Update {
  name?: string | undefined
  providerType?: string | undefined
  baseUrl?: string | null | undefined
  apiKey?: string | null | undefined
  wireApi?: WireApi | null | undefined
}

/** Throws 400 where the update may not be. The default address of the type counts where none is stored. */
function changesOf(deps: Dependencies, stored: providers.StoredConnection, update: Update): providers.ProviderChanges {
  const { name, providerType, baseUrl, apiKey } = update
  const type = typeOf(deps.providerTypes, stored.type)
  if (providerType !== undefined && providerType !== stored.type) badRequest('providerType: cannot be changed')
  if (baseUrl === null && type.requiresBaseUrl) badRequest(`baseUrl: is required for ${type.id}`)
  if (baseUrl) checkWebAddress('baseUrl', baseUrl)
  if (baseUrl === '') badRequest('baseUrl: must be a URL')
  if (apiKey === null && type.requiresApiKey) badRequest(`apiKey: is required for ${type.id}`)
  checkKey(apiKey)
  if (baseUrl !== undefined && apiKey === undefined && stored.apiKey !== null) {
    const [from, to] = [stored.baseUrl, baseUrl].map((url) => originOf(url ?? type.defaultBaseUrl))
    // Else a user who may change an address, but never saw the key, could have it sent elsewhere.
    if (from !== to) badRequest('apiKey: must be sent again when baseUrl moves to another origin')
  }
  const given = givenWireApi(type, update.wireApi)
  const standard = defaultWireApi(type, baseUrl === undefined ? stored.baseUrl : baseUrl) ?? undefined
  const wireApi = update.wireApi === null ? standard : given
  return { name, baseUrl, wireApi, key: apiKey === undefined ? undefined : sealKey(deps.secrets, stored.id, apiKey) }
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

// Four characters of a shorter key would tell too much.
const shortestHinted = 12

/** Seals the key of a provider. Null when there is none. Throws 400 for a key that no HTTP header could carry. */
function sealKey(secrets: Pick<Secrets, 'seal'>, providerId: string, key: string | null): SealedKey {
  if (key === null) return { apiKey: null, apiKeyHint: null }
  if (key.trim() === '') badRequest('apiKey: must not be empty')
  if (!/^[\x20-\x7e\x80-\xff]*$/.test(key)) {
    badRequest('apiKey: must hold only characters that an HTTP header can carry, no line ends among them')
  }
  const characters = [...key]
  const apiKeyHint = characters.length < shortestHinted ? null : characters.slice(-4).join('')
  return { apiKey: secrets.seal(key, keyContext(providerId)), apiKeyHint }
}
