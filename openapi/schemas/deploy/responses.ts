/** The format of OpenAI's Responses and Conversations (contract section 24). Handlers check what items and tools hold. */
import Type, { type TSchema } from 'typebox'
import { documented } from '../../documented.ts'
import { count, freeObject, name, nullable, objectOrNull, oneOf } from '../basics.ts'
import { reasoningEfforts } from '../conversation/completion-fields.ts'
import { onBusy } from '../conversation/queue.ts'
import { metadata } from '../conversation/sessions.ts'

const open = (description: string, keywords: Readonly<Record<string, unknown>>) =>
  Type.Optional(Type.Unsafe<unknown>({ description, ...documented(keywords) }))
const flag = (description: string) => Type.Optional(nullable(Type.Boolean({ description })))

const conversationId = {
  type: ['string', 'object', 'null'],
  properties: { id: { type: 'string' } },
  required: ['id'],
}

const user = (description: string) => Type.Optional(nullable(name(description)))

export const ResponseRequestBody = Type.Object(
  {
    input: open(
      'Required. A text, or items: `message`, `function_call`, `function_call_output`, `mcp_approval_response`, `reasoning`, `item_reference`. Where neither `conversation` nor `previous_response_id` is there, the last item with an id of this server names the place, and only what follows it is new; without one the input is the history of a new conversation.',
      { type: ['string', 'array'], items: { type: 'object' }, minItems: 1 },
    ),
    conversation: open(
      'The conversation to go on with, behind its head: an id, or an object with one.',
      conversationId,
    ),
    previous_response_id: open('The response to go on from: a branch where it is not the last one.', {
      type: ['string', 'null'],
    }),
    stream: flag('When true, the response is an event stream.'),
    store: flag('If false, nothing is stored, and `input` is the whole history.'),
    background: flag('When true, the answer comes at once, with status `in_progress`, and is read later.'),
    instructions: open(
      'Text that follows the agent’s prompt, for this request alone; 400 for an agent that refuses it.',
      { type: ['string', 'null'] },
    ),
    include_actions: flag('When true, calls that wait for an approval are shown, as `mcp_approval_request`.'),
    on_busy: Type.Optional(onBusy('reject')),
    tools: open('The caller’s own functions, up to 128.', {
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['type', 'name'],
        properties: {
          type: { type: 'string', enum: ['function'] },
          name: { type: 'string' },
          description: { type: ['string', 'null'] },
          parameters: { type: ['object', 'null'] },
          strict: { type: ['boolean', 'null'] },
        },
      },
    }),
    tool_choice: open('Only with `tools`: `auto`, `none`, `required`, or one function.', {
      type: ['string', 'object', 'null'],
    }),
    max_output_tokens: open('Most tokens of the answer.', { type: ['integer', 'null'], minimum: 1 }),
    max_tool_calls: open(
      'Most tool calls of the reply and of those that continue it, where the agent’s own number is not lower.',
      { type: ['integer', 'null'], minimum: 0 },
    ),
    text: open('`format`: form of the answer, as `response_format` of chat completions, without its inner object.', {
      type: ['object', 'null'],
      properties: { format: { type: ['object', 'null'] } },
    }),
    reasoning: open('`effort`: how long the model may think.', {
      type: ['object', 'null'],
      properties: { effort: { enum: [...reasoningEfforts, null] } },
    }),
    parallel_tool_calls: open('If false, one tool call at a time.', { type: ['boolean', 'null'] }),
    metadata: Type.Optional(
      nullable(Type.Unsafe<Record<string, string>>({ ...metadata, description: 'A new conversation’s metadata.' })),
    ),
    safety_identifier: user('The end user of a new conversation.'),
    user: user('As `safety_identifier`, which wins.'),
  },
  {
    title: 'ResponseRequestBody',
    description:
      'Other fields that clients send are accepted and not used; the header `x-greenroom-ignored` of the answer names them.',
  },
)
export const AgentResponseRequestBody = Type.Object(
  {
    ...ResponseRequestBody.properties,
    model: Type.String({ description: 'Id of an agent, or its exact name where no other agent has the same.' }),
  },
  { title: 'AgentResponseRequestBody' },
)

const responseId = Type.String({ description: '`resp_` and the id of the reply, without dashes.' })
const itemId = Type.String({ description: 'Prefix and a UUID without dashes.' })
const unixTime = Type.Integer({ description: 'Unix seconds.' })

export const ResponseItem = Type.Object(
  { type: Type.String({ description: 'Kind of item.' }), id: itemId },
  {
    title: 'ResponseItem',
    description:
      'A `message`, `reasoning`, `function_call`, `function_call_output`, `mcp_approval_request` or `mcp_approval_response`.',
  },
)
const ResponseUsage = objectOrNull(
  {
    input_tokens: count('Tokens read.'),
    input_tokens_details: Type.Object({
      cached_tokens: count('Of these, from a cache.'),
      cache_write_tokens: count('Of these, written to a cache.'),
    }),
    output_tokens: count('Tokens written.'),
    output_tokens_details: Type.Object({ reasoning_tokens: count('Of these, reasoning.') }),
    total_tokens: count('Their sum.'),
  },
  'Null while it runs, and where it failed.',
)
const nothing = (description: string) => Type.Null({ description })
const anything = (description: string): TSchema => Type.Unsafe<unknown>({ description })

export const ResponseObject = Type.Object(
  {
    id: responseId,
    object: oneOf(['response'], 'Kind of object.'),
    created_at: unixTime,
    completed_at: nothing('Always null: see `status`.'),
    status: oneOf(
      ['queued', 'in_progress', 'completed', 'cancelled', 'failed', 'incomplete'],
      'Where calls wait it is `completed`.',
    ),
    background: Type.Boolean({ description: 'As it was asked for.' }),
    error: objectOrNull({ code: Type.String(), message: Type.String() }, 'Why it failed. Null when it did not.'),
    incomplete_details: objectOrNull(
      { reason: oneOf(['max_output_tokens', 'content_filter'], 'What cut it off.') },
      'Null when it is not incomplete.',
    ),
    instructions: nullable(Type.String({ description: 'As they were sent.' })),
    max_output_tokens: nullable(Type.Integer({ description: 'As it was sent.' })),
    model: Type.String({ description: 'The model of the last turn.' }),
    output: Type.Array(ResponseItem),
    parallel_tool_calls: Type.Boolean({ description: 'As it was sent; else true.' }),
    previous_response_id: nullable(Type.String({ description: 'The response that it comes behind.' })),
    conversation: objectOrNull({ id: Type.String() }, 'Its conversation. Null when it is stored nowhere.'),
    store: Type.Boolean({ description: 'Whether it is stored.' }),
    temperature: Type.Number({ description: 'The agent’s; 1 where it has none.' }),
    top_p: Type.Number({ description: 'The agent’s; 1 where it has none.' }),
    presence_penalty: Type.Literal(0),
    frequency_penalty: Type.Literal(0),
    top_logprobs: Type.Literal(0),
    reasoning: Type.Object({
      effort: nullable(Type.String({ description: 'The request’s, else the agent’s.' })),
      summary: nothing('Always null.'),
    }),
    truncation: oneOf(['auto'], 'A conversation that is too long is cut, or summarised.'),
    max_tool_calls: nullable(Type.Integer({ description: 'As it was sent.' })),
    service_tier: oneOf(['default'], 'Always the same.'),
    safety_identifier: nullable(Type.String({ description: 'As it was sent.' })),
    prompt_cache_key: nothing('Always null.'),
    text: freeObject('`format`, as it was sent.'),
    tool_choice: anything('As it was sent; else `auto`.'),
    tools: Type.Array(freeObject('As it was sent.')),
    usage: ResponseUsage,
    metadata: Type.Unsafe({ ...metadata, description: 'As it was sent.' }),
  },
  { title: 'ResponseObject' },
)
export const ResponseEvent = Type.Object(
  {
    type: Type.String({ description: 'Kind of event, as on its `event:` line.' }),
    sequence_number: count('Its number, from 0 without gaps; also its `id:`. The same for every reader.'),
  },
  { title: 'ResponseEvent', description: 'An event of OpenAI’s stream.' },
)
export const ResponseCompact = Type.Object(
  {
    previous_response_id: open(
      'The newest response of a conversation: what was said up to it is summarised. Either it or `input` is required.',
      {
        type: ['string', 'null'],
      },
    ),
    input: open(
      'A conversation that is stored nowhere: a text, or items as those of a response. Its summary is not stored either; the `compaction` item can begin an `input`, or the `items` of a conversation. Not with a client secret.',
      {},
    ),
    instructions: open('Text that follows the prompt of the summary, as instructions of a response do.', {
      type: ['string', 'null'],
    }),
  },
  { title: 'ResponseCompact' },
)
export const AgentResponseCompact = Type.Object(
  {
    ...ResponseCompact.properties,
    model: Type.String({ description: 'Id of an agent, or its exact name where no other agent has the same.' }),
  },
  { title: 'AgentResponseCompact' },
)
export const ResponseCompaction = Type.Object(
  {
    id: Type.String(),
    object: oneOf(['response.compaction'], 'Kind of object.'),
    created_at: unixTime,
    output: Type.Array(ResponseItem, {
      description:
        'A `compaction` item, which stands for what was summarised, and the items that the summary does not cover.',
    }),
    usage: ResponseUsage,
  },
  { title: 'ResponseCompaction' },
)
export const ResponseInputTokens = Type.Object(
  {
    object: oneOf(['response.input_tokens'], 'Kind of object.'),
    input_tokens: count('Tokens that the model would be sent, as they are estimated.'),
    estimated: Type.Literal(true),
  },
  { title: 'ResponseInputTokens' },
)
export const ResponseDeleted = Type.Object(
  { id: responseId, object: oneOf(['response'], 'Kind of object.'), deleted: Type.Literal(true) },
  { title: 'ResponseDeleted' },
)
export const ResponseItemList = Type.Object(
  {
    object: oneOf(['list'], 'Kind of object.'),
    data: Type.Array(ResponseItem),
    first_id: nullable(itemId),
    last_id: nullable(itemId),
    has_more: Type.Boolean(),
  },
  { title: 'ResponseItemList' },
)
export const responseRead = Type.Object({
  stream: Type.Optional(oneOf(['true', 'false'], '`true`: the answer is an event stream.')),
  starting_after: Type.Optional(
    Type.Integer({ minimum: 0, description: 'With `stream`: only events with a greater number.' }),
  ),
})
export const itemPage = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Most items, 1 to 100.' })),
  after: Type.Optional(Type.String({ description: 'The id of the item before the first one.' })),
  order: Type.Optional({ ...oneOf(['asc', 'desc'], 'Newest first: `desc`.'), default: 'desc' }),
})

export const ConversationCreate = Type.Object(
  {
    items: open('Messages to begin with, as in `input`, calls with their outputs included.', {
      type: ['array', 'null'],
      items: { type: 'object' },
    }),
    metadata: Type.Optional(nullable(metadata)),
  },
  { title: 'ConversationCreate' },
)
export const ConversationItemsCreate = Type.Object(
  {
    items: open('1 to 1,000 messages, calls and outputs, as in `input`. They are put behind the last item.', {
      type: 'array',
      items: { type: 'object' },
      minItems: 1,
    }),
  },
  { title: 'ConversationItemsCreate' },
)
export const AgentConversationCreate = Type.Object(
  {
    ...ConversationCreate.properties,
    model: Type.Optional(
      Type.String({
        description:
          'Id of an agent, or its exact name where no other agent has the same. When absent: the only agent that the key opens; of several, the one of the first response. A key of several named agents must send it.',
      }),
    ),
  },
  { title: 'AgentConversationCreate' },
)
export const ConversationChange = Type.Object(
  { metadata: Type.Unsafe<Record<string, string> | null>(nullable(metadata)) },
  { title: 'ConversationChange' },
)
export const Conversation = Type.Object(
  {
    id: Type.String({ description: '`conv_` and the id of the session, without dashes.' }),
    object: oneOf(['conversation'], 'Kind of object.'),
    created_at: unixTime,
    metadata,
  },
  { title: 'Conversation' },
)
export const ConversationDeleted = Type.Object(
  { id: Type.String(), object: oneOf(['conversation.deleted'], 'Kind of object.'), deleted: Type.Literal(true) },
  { title: 'ConversationDeleted' },
)
