/**
 * Which provider takes which pictures and files (contract section 13). The table decides what is refused and what
 * docs/fields.md says. Pure.
 */
import type { ModelTarget } from '../actors/ports/index.ts'
import { findProviderType, type ProviderTypeId } from './provider-types.ts'

/** How a provider's requests hold what has these media types. `text`: as a text of its own. Null when it cannot. */
export interface TakenParts {
  pictures: readonly string[]
  pdf: boolean
  text: 'file' | 'text'
}

const allPictures = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

/** What a model cannot take is its provider's to say: here stand the APIs. */
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

/** `image/*`: a picture whose kind is not known yet. */
export function takesPart(type: string, mediaType: string): boolean {
  const known = findProviderType(type)
  if (known === null) return true
  const { pictures, pdf } = takenParts[known.id]
  if (mediaType === 'image/*') return pictures.length > 0
  if (mediaType.startsWith('image/')) return pictures.includes(mediaType)
  return mediaType !== 'application/pdf' || pdf
}

type Target = { provider: Pick<ModelTarget['provider'], 'type'> }

/** Why a provider cannot be asked about what has these media types. Null when it can. */
export function partRefusal({ provider: { type } }: Target, mediaTypes: readonly string[]): string | null {
  const refused = mediaTypes.find((mediaType) => !takesPart(type, mediaType))
  if (refused === undefined) return null
  const what = refused === 'image/*' ? 'pictures' : refused
  return `its provider (${findProviderType(type)?.name ?? type}, type ${type}) does not take ${what}`
}
