/** Items of the Responses API, and those that are sent back with tool results. */

import type OpenAI from 'openai'
import { isObject } from '../../untrusted/is-object.ts'
import { createEchoes } from '../wire/echoes.ts'
import type { Fields } from '../wire/provider-json.ts'

export type EchoedItem =
  | OpenAI.Responses.ResponseReasoningItem
  | OpenAI.Responses.ResponseOutputMessage
  | OpenAI.Responses.ResponseFunctionToolCall

export const echoes = createEchoes<readonly EchoedItem[]>('responses')

/** The most characters to send back of one turn. A longer one is not sent back. */
const MAX_KEPT = 4 * 1024 * 1024

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')
const partsIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])

/**
 * Returns the items of a turn to send back, in order. Null when there is no need. Reasoning is sent back encrypted or
 * not at all: nothing is stored at the vendor that its id could name.
 */
export function echoOf(items: readonly Fields[]): readonly EchoedItem[] | null {
  const kept = items.flatMap(echoedItem)
  if (!kept.some(({ type }) => type === 'reasoning') || JSON.stringify(kept).length > MAX_KEPT) return null
  return kept
}

function echoedItem(item: Fields): EchoedItem[] {
  const id = textIn(item.id)
  if (item.type === 'reasoning') {
    const encrypted = textIn(item.encrypted_content)
    const summary = partsIn(item.summary).map(({ text }) => ({ type: 'summary_text' as const, text: textIn(text) }))
    return encrypted === '' ? [] : [{ type: 'reasoning', id, summary, encrypted_content: encrypted }]
  }
  if (item.type === 'function_call') {
    const [call_id, name, text] = [textIn(item.call_id), textIn(item.name), textIn(item.arguments)]
    return [{ type: 'function_call', id, call_id, name, arguments: text || '{}' }]
  }
  if (item.type !== 'message') return []
  const phase = (['commentary', 'final_answer'] as const).find((word) => word === item.phase)
  const content = partsIn(item.content).flatMap(messagePart)
  if (content.length === 0) return []
  return [{ type: 'message', id, role: 'assistant', status: 'completed', content, ...(phase && { phase }) }]
}

function messagePart({ type, text, refusal }: Fields): OpenAI.Responses.ResponseOutputMessage['content'] {
  if (type === 'output_text') return [{ type, text: textIn(text), annotations: [] }]
  return type === 'refusal' ? [{ type, refusal: textIn(refusal) }] : []
}

/** Returns the text of a message's item, refusals included. */
export const messageText = (item: Fields): string =>
  partsIn(item.content)
    .map(({ text, refusal }) => textIn(text) || textIn(refusal))
    .join('')

/** Returns the visible reasoning of an item: its summary, or the reasoning itself where the model is an open one. */
export const reasoningTexts = (item: Fields): string[] => {
  const summary = partsIn(item.summary).map(({ text }) => textIn(text))
  return summary.length > 0 ? summary : partsIn(item.content).map(({ text }) => textIn(text))
}
