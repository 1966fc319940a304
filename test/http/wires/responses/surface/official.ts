/**
 * The fields and types that the official client has for each call. A new version of the client that has more, or fewer, does not
 * compile here.
 */
import type OpenAI from 'openai'
import { CREATE, ITEM, type Step, TOOL } from './kit.ts'

type Keys<T> = T extends unknown ? keyof T & string : never
type TypeOf<T> = T extends { type?: infer Type | null } ? Type & string : never

/** Returns the names, of which none may be missing. */
const all = <Name extends string>(names: Readonly<Record<Name, 0>>): string[] => Object.keys(names)

type Create = Exclude<Keys<OpenAI.Responses.ResponseCreateParams>, 'reasoning' | 'text'>
type Nested = `reasoning.${Keys<OpenAI.Reasoning>}` | `text.${Keys<OpenAI.Responses.ResponseTextConfig>}`

const inRequests = all<Create | Nested>({
  ...{ access_programs: 0, background: 0, context_management: 0, conversation: 0, image: 0, include: 0, input: 0 },
  ...{ instructions: 0, max_output_tokens: 0, max_tool_calls: 0, metadata: 0, model: 0, moderation: 0 },
  ...{ parallel_tool_calls: 0, previous_response_id: 0, prompt: 0, prompt_cache_key: 0, prompt_cache_options: 0 },
  ...{ prompt_cache_retention: 0, safety_identifier: 0, service_tier: 0, store: 0, stream: 0, stream_options: 0 },
  ...{ temperature: 0, tool_choice: 0, tools: 0, top_logprobs: 0, top_p: 0, truncation: 0, user: 0 },
  ...{ 'reasoning.context': 0, 'reasoning.effort': 0, 'reasoning.generate_summary': 0, 'reasoning.mode': 0 },
  ...{ 'reasoning.summary': 0, 'text.format': 0, 'text.verbosity': 0 },
}).filter((name) => name !== 'tools') // a row for each type

const items = all<TypeOf<OpenAI.Responses.ResponseInputItem>>({
  ...{ message: 0, file_search_call: 0, computer_call: 0, computer_call_output: 0, web_search_call: 0 },
  ...{ function_call: 0, function_call_output: 0, tool_search_call: 0, tool_search_output: 0, additional_tools: 0 },
  ...{ configuration_update: 0, reasoning: 0, compaction: 0, image_generation_call: 0, code_interpreter_call: 0 },
  ...{ local_shell_call: 0, local_shell_call_output: 0, shell_call: 0, shell_call_output: 0, apply_patch_call: 0 },
  ...{ apply_patch_call_output: 0, mcp_list_tools: 0, mcp_approval_request: 0, mcp_approval_response: 0, mcp_call: 0 },
  ...{ custom_tool_call_output: 0, custom_tool_call: 0, compaction_trigger: 0, item_reference: 0, program: 0 },
  ...{ program_output: 0 },
})

const tools = all<Exclude<TypeOf<OpenAI.Responses.Tool>, `${string}_20${string}`>>({
  ...{ function: 0, file_search: 0, computer: 0, computer_use_preview: 0, web_search: 0, mcp: 0, code_interpreter: 0 },
  ...{ programmatic_tool_calling: 0, image_generation: 0, local_shell: 0, shell: 0, custom: 0, namespace: 0 },
  ...{ tool_search: 0, web_search_preview: 0, apply_patch: 0 },
})

const official: Readonly<Record<string, readonly string[]>> = {
  [CREATE]: inRequests,
  [ITEM]: items,
  [TOOL]: tools,
  'responses.retrieve': all<Keys<OpenAI.Responses.ResponseRetrieveParams>>({
    ...{ include: 0, include_obfuscation: 0, starting_after: 0, stream: 0 },
  }),
  'responses.inputTokens.count': all<Keys<OpenAI.Responses.InputTokenCountParams>>({
    ...{ conversation: 0, input: 0, instructions: 0, model: 0, parallel_tool_calls: 0, personality: 0 },
    ...{ previous_response_id: 0, reasoning: 0, text: 0, tool_choice: 0, tools: 0, truncation: 0 },
  }),
  'responses.compact': all<Keys<OpenAI.Responses.ResponseCompactParams>>({
    ...{ model: 0, image: 0, input: 0, instructions: 0, previous_response_id: 0, prompt_cache_key: 0 },
    ...{ prompt_cache_options: 0, prompt_cache_retention: 0, service_tier: 0 },
  }),
  'responses.inputItems.list': all<Keys<OpenAI.Responses.InputItemListParams>>({
    ...{ include: 0, order: 0, after: 0, limit: 0 },
  }),
  'conversations.create': all<Keys<OpenAI.Conversations.ConversationCreateParams>>({ items: 0, metadata: 0 }),
  'conversations.update': all<Keys<OpenAI.Conversations.ConversationUpdateParams>>({ metadata: 0 }),
  'conversations.items.create': all<Keys<OpenAI.Conversations.ItemCreateParams>>({ items: 0, include: 0 }),
  'conversations.items.list': all<Keys<OpenAI.Conversations.ItemListParams>>({
    ...{ include: 0, order: 0, after: 0, limit: 0 },
  }),
  'conversations.items.retrieve': all<Keys<OpenAI.Conversations.ItemRetrieveParams>>({
    ...{ conversation_id: 0, include: 0 },
  }),
  'conversations.items.delete': all<Keys<OpenAI.Conversations.ItemDeleteParams>>({ conversation_id: 0 }),
  'files.create': all<Keys<OpenAI.Files.FileCreateParams>>({ file: 0, purpose: 0, expires_after: 0 }),
  'files.list': all<Keys<OpenAI.Files.FileListParams>>({ purpose: 0, order: 0, after: 0, limit: 0 }),
}

/** The calls of the client. */
type Calls = {
  responses: Exclude<keyof OpenAI['responses'], '_client'>
  inputItems: Exclude<keyof OpenAI['responses']['inputItems'], '_client'>
  inputTokens: Exclude<keyof OpenAI['responses']['inputTokens'], '_client'>
  conversations: Exclude<keyof OpenAI['conversations'], '_client'>
  items: Exclude<keyof OpenAI['conversations']['items'], '_client'>
  files: Exclude<keyof OpenAI['files'], '_client'>
}

const calls = [
  ...all<Calls['responses']>({
    ...{ create: 0, retrieve: 0, delete: 0, parse: 0, stream: 0, cancel: 0, compact: 0, inputItems: 0, inputTokens: 0 },
  }).map((name) => `responses.${name}`),
  ...all<Calls['inputItems']>({ list: 0 }).map((name) => `responses.inputItems.${name}`),
  ...all<Calls['inputTokens']>({ count: 0 }).map((name) => `responses.inputTokens.${name}`),
  ...all<Calls['conversations']>({ create: 0, retrieve: 0, update: 0, delete: 0, items: 0 }).map(
    (name) => `conversations.${name}`,
  ),
  ...all<Calls['items']>({ create: 0, retrieve: 0, list: 0, delete: 0 }).map((name) => `conversations.items.${name}`),
  ...all<Calls['files']>({
    ...{ create: 0, retrieve: 0, list: 0, delete: 0, content: 0, waitForProcessing: 0 },
  }).map((name) => `files.${name}`),
]

/** Returns the calls, fields and types of the client that no step is about. */
export function missingIn(steps: readonly Step[]): string[] {
  const hasField = (call: string, name: string) =>
    steps.some(
      (step) =>
        step.call === call &&
        (step.field.match(/[a-z_.]+/g) ?? []).some((word) => word === name || word === `input.${name}`),
    )
  return [
    ...calls.filter(
      (name) => !steps.some(({ call }) => call.split(', ').some((one) => one === name || one.startsWith(`${name}.`))),
    ),
    ...Object.entries(official).flatMap(([call, names]) =>
      names.filter((name) => !hasField(call, name)).map((name) => `${call}: ${name}`),
    ),
  ]
}
