/** The fields of events, as the `openai` package's own types have them. */
import type OpenAI from 'openai'
import type { WireEvent } from './responses-scene.ts'

/** Compiles only while the fields of each kind are those of the package's own types. */
const kinds = {
  'response.created': ['response'],
  'response.in_progress': ['response'],
  'response.completed': ['response'],
  'response.incomplete': ['response'],
  'response.failed': ['response'],
  'response.output_item.added': ['item', 'output_index'],
  'response.output_item.done': ['item', 'output_index'],
  'response.content_part.added': ['content_index', 'item_id', 'output_index', 'part'],
  'response.content_part.done': ['content_index', 'item_id', 'output_index', 'part'],
  'response.output_text.delta': ['content_index', 'delta', 'item_id', 'logprobs', 'output_index'],
  'response.output_text.done': ['content_index', 'item_id', 'logprobs', 'output_index', 'text'],
  'response.reasoning_summary_part.added': ['item_id', 'output_index', 'part', 'summary_index'],
  'response.reasoning_summary_part.done': ['item_id', 'output_index', 'part', 'summary_index'],
  'response.reasoning_summary_text.delta': ['delta', 'item_id', 'output_index', 'summary_index'],
  'response.reasoning_summary_text.done': ['item_id', 'output_index', 'summary_index', 'text'],
  'response.function_call_arguments.delta': ['delta', 'item_id', 'output_index'],
  'response.function_call_arguments.done': ['arguments', 'item_id', 'output_index'],
} satisfies {
  [Kind in OpenAI.Responses.ResponseStreamEvent['type']]?: Exclude<
    keyof Extract<OpenAI.Responses.ResponseStreamEvent, { type: Kind }>,
    'type' | 'sequence_number'
  >[]
}

/** In every event; `name` is what version 6 of the package has beside a call's arguments. */
const common = new Set(['type', 'sequence_number', 'name'])

/** Why its fields are not those of its kind; empty when they are. */
export function packageFaults(event: WireEvent): string[] {
  const fields = Object.keys(event).filter((field) => !common.has(field))
  const own: readonly string[] | undefined = new Map<string, readonly string[]>(Object.entries(kinds)).get(event.type)
  return `${fields.sort()}` === `${own}` ? [] : [`${event.type}: ${fields}`]
}
