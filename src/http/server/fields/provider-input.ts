/** Providers as callers write them: checks, defaults, and the key sealed (contract sections 2 and 19). */
import { randomUUID } from 'node:crypto'
import type { components } from '../../../../openapi/generated/schema.ts'
import type { WireApi } from '../../../actors/ports/index.ts'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import {
  keyContext,
  type NewProvider,
  type ProviderChanges,
  type SealedKey,
  type StoredConnection,
} from '../../../persistence/records/providers.ts'
import { canBeApiKey } from '../../../untrusted/api-key.ts'
import { badRequest } from '../http-error.ts'
import { checkWebAddress, originOf } from './web-address.ts'

export type ProviderType = components['schemas']['ProviderType']

export interface ProviderWriting {
  secrets: Pick<Secrets, 'seal' | 'open'>
  providerTypes: readonly ProviderType[]
}

interface Given {
  name: string
  providerType: string
  baseUrl?: string | null | undefined
  apiKey?: string | null | undefined
  wireApi?: WireApi | null | undefined
}

/** Returns a provider to be made. Throws 400 where it may not be. */
export function newProvider<Type extends ProviderType['id']>(
  { secrets, providerTypes }: ProviderWriting,
  { name, providerType, apiKey = null, baseUrl = null, wireApi }: Given & { providerType: Type },
): NewProvider<Type> {
  const type = typeOf(providerTypes, providerType)
  if (baseUrl !== null) checkWebAddress('baseUrl', baseUrl)
  else if (type.requiresBaseUrl) badRequest(`baseUrl: is required for ${type.id}`)
  if (apiKey === null && type.requiresApiKey) badRequest(`apiKey: is required for ${type.id}`)
  checkKey(apiKey)
  const api = givenWireApi(type, wireApi) ?? defaultWireApi(type, baseUrl)
  const id = randomUUID()
  return { id, name, providerType, baseUrl, wireApi: api, ...sealKey(secrets, id, apiKey) }
}

/** Throws 400 where the update may not be. The default address of the type counts where none is stored. */
export function providerChanges(
  deps: ProviderWriting,
  stored: StoredConnection,
  update: Partial<Given>,
): ProviderChanges {
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
