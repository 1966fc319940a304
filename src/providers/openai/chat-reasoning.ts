/**
 * Reasoning in the chat-completions format: the fields that vendors use for it, and those that some require back with
 * tool results.
 */
import { isObject } from '../../untrusted/is-object.ts'
import { createEchoes } from '../wire/echoes.ts'
import type { Fields } from '../wire/provider-json.ts'

/** The reasoning fields of an assistant's message. Reasoning is sent back in the fields that it came in. */
export interface ChatReasoning {
  reasoning_content?: string
  reasoning?: string
  /** OpenRouter's field: pieces of any vendor's reasoning, including signed and encrypted ones. */
  reasoning_details?: readonly Fields[]
}

/** The key of reasoning that is sent back once the provider requires it. JSON leaves symbols out. */
export const HELD = Symbol('held')

export interface ChatEcho extends ChatReasoning {
  /**
   * The `extra_content` of each call, in order; null where one has none. Absent when none has. Google's endpoint signs
   * calls in it, and refuses those of Gemini 3 that come back without.
   */
  extras?: readonly (Fields | null)[]
}

export const reasoningFields = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
] as const satisfies readonly (keyof ChatReasoning)[]

export const echoes = createEchoes<ChatEcho>('chat')

/** The most characters of reasoning in one turn. A longer one is not sent back. */
const MAX_GATHERED = 4 * 1024 * 1024

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Returns the reasoning in a delta. Servers that have renamed the field send both, with the same text; some send the
 * details alone.
 */
export const reasoningIn = (delta: Fields): string =>
  textIn(delta.reasoning_content) ||
  textIn(delta.reasoning) ||
  detailsText(delta.reasoning_details) ||
  thinkingIn(delta.content)

const detailsText = (details: unknown): string =>
  Array.isArray(details)
    ? details.map((piece) => (isObject(piece) ? textIn(piece.text) || textIn(piece.summary) : '')).join('')
    : ''

/** Returns Mistral's reasoning, which is in parts of the content. */
function thinkingIn(content: unknown): string {
  if (!Array.isArray(content)) return ''
  const parts = content.flatMap((part) => (isObject(part) && Array.isArray(part.thinking) ? part.thinking : []))
  return parts.map((part) => (isObject(part) ? textIn(part.text) : '')).join('')
}

/** Assembles a turn's reasoning from its deltas. */
export function gatherReasoning() {
  const texts = { reasoning_content: '', reasoning: '' }
  const details: Fields[] = []
  let size = 0
  return {
    add({ reasoning_content, reasoning, reasoning_details }: Fields): void {
      if (reasoning_content === undefined && reasoning === undefined && reasoning_details === undefined) return
      if (size > MAX_GATHERED) return
      texts.reasoning_content += textIn(reasoning_content)
      texts.reasoning += textIn(reasoning)
      size += textIn(reasoning_content).length + textIn(reasoning).length
      for (const piece of Array.isArray(reasoning_details) ? reasoning_details : []) {
        if (!isObject(piece)) continue
        addDetail(details, piece)
        size += 64 + JSON.stringify(piece).length
      }
    },
    /** Returns the reasoning. Null when there was none. OpenRouter reads `reasoning_details` before `reasoning`. */
    all(): ChatReasoning | null {
      if (size === 0 || size > MAX_GATHERED) return null
      if (details.length > 0) return { reasoning_details: details }
      const { reasoning_content, reasoning } = texts
      return reasoning_content !== '' ? { reasoning_content } : { reasoning }
    },
  }
}

/** The fields of a detail that grow from piece to piece. */
const growing = ['text', 'summary', 'data']

/** Adds a piece to the last detail when type and index are the same: the vendor requires whole ones back, in order. */
function addDetail(details: Fields[], piece: Fields): void {
  const last = details.at(-1)
  const goesOn = last && piece.index !== undefined && last.type === piece.type && last.index === piece.index
  if (!goesOn) return void details.push({ ...piece })
  for (const [name, value] of Object.entries(piece)) {
    if (growing.includes(name) && typeof value === 'string') last[name] = textIn(last[name]) + value
    else if (value !== null) last[name] = value
  }
}
