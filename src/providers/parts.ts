/**
 * Pictures and files: which provider accepts which (contract section 13). The table decides what is refused and what
 * docs/fields.md says. Pure.
 */
import type { ModelTarget } from '../actors/ports/index.ts'
import { partsOfOutputs } from '../untrusted/picture-type.ts'
import { findProviderType, type ProviderTypeId } from './provider-types.ts'

/** The place of these media types in a provider's requests. `text`: as a text of its own. Null when there is none. */
export interface TakenParts {
  pictures: readonly string[]
  pdf: boolean
  text: 'file' | 'text'
}

const allPictures = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

/** Media types that the APIs accept. A provider itself rejects what a single model does not accept. */
export const takenParts: Readonly<Record<ProviderTypeId, TakenParts>> = {
  openai: { pictures: allPictures, pdf: true, text: 'text' },
  anthropic: { pictures: allPictures, pdf: true, text: 'file' },
  gemini: { pictures: ['image/png', 'image/jpeg', 'image/webp'], pdf: true, text: 'file' },
  mistral: { pictures: allPictures, pdf: false, text: 'text' },
  openrouter: { pictures: allPictures, pdf: true, text: 'text' },
  groq: { pictures: allPictures, pdf: false, text: 'text' },
  deepseek: { pictures: [], pdf: false, text: 'text' },
  xai: { pictures: ['image/png', 'image/jpeg'], pdf: false, text: 'text' },
  ollama: { pictures: allPictures, pdf: false, text: 'text' },
  'openai-compatible': { pictures: allPictures, pdf: true, text: 'text' },
  demo: { pictures: allPictures, pdf: true, text: 'file' },
}

/** The provider type that refuses a user's message that follows a result. */
const WITHOUT_PARTS_OF_OUTPUTS = 'mistral'

/** Returns whether a provider type accepts a media type. `image/*`: a picture whose kind is not known yet. */
export function takesPart(type: string, mediaType: string): boolean {
  const known = findProviderType(type)
  if (known === null) return true
  if (mediaType === partsOfOutputs) return known.id !== WITHOUT_PARTS_OF_OUTPUTS
  const { pictures, pdf } = takenParts[known.id]
  if (mediaType === 'image/*') return pictures.length > 0
  if (mediaType.startsWith('image/')) return pictures.includes(mediaType)
  return mediaType !== 'application/pdf' || pdf
}

type Target = { provider: Pick<ModelTarget['provider'], 'type'> }

/** Returns why a provider does not accept these media types. Null when it does. */
export function partRefusal({ provider: { type } }: Target, mediaTypes: readonly string[]): string | null {
  const refused = mediaTypes.find((mediaType) => !takesPart(type, mediaType))
  if (refused === undefined) return null
  const what = refused === 'image/*' ? 'pictures' : refused
  return `its provider (${findProviderType(type)?.name ?? type}, type ${type}) does not take ${what}`
}
