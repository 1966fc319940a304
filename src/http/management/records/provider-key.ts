/** API keys of providers: what a key may be, and what of it is stored (contract section 2). */

import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import { keyContext, type SealedKey } from '../../../persistence/records/providers.ts'
import { badRequest } from '../../server/http-error.ts'

// Four characters of a shorter key would tell too much.
const shortestHinted = 12

/** Seals the key of a provider. Null when there is none. Throws 400 for a key that no HTTP header could carry. */
export function sealKey(secrets: Pick<Secrets, 'seal'>, providerId: string, key: string | null): SealedKey {
  if (key === null) return { apiKey: null, apiKeyHint: null }
  if (key.trim() === '') badRequest('apiKey: must not be empty')
  if (!/^[\x20-\x7e\x80-\xff]*$/.test(key)) {
    badRequest('apiKey: must hold only characters that an HTTP header can carry, no line ends among them')
  }
  const characters = [...key]
  const apiKeyHint = characters.length < shortestHinted ? null : characters.slice(-4).join('')
  return { apiKey: secrets.seal(key, keyContext(providerId)), apiKeyHint }
}
