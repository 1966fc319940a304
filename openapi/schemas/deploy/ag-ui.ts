/** AG-UI's own formats (protocol 1.0). The server reads little of a request, and checks only that. */
import Type from 'typebox'
import { documented } from '../../documented.ts'
import { freeObject, oneOf } from '../basics.ts'
import { MAX_TOOLS, TOOL_NAME } from '../conversation/actions.ts'
import { replyErrorCodes } from '../conversation/chat.ts'
import { whenBusy } from '../conversation/queue.ts'

const SentMessage = Type.Object(
  {},
  {
    title: 'AgUiMessage',
    description:
      'A message as AG-UI has it. Only the newest one of role `user` is read, and those of role `tool` at the end: results of the page’s own tools. A user message that the thread has, under this `id` and with this text, is answered once more instead of stored again.',
    ...documented({
      properties: {
        id: { type: 'string' },
        role: { type: 'string' },
        toolCallId: { type: 'string' },
        content: {
          type: ['string', 'array'],
          items: {
            type: 'object',
            required: ['type', 'text'],
            properties: { type: { type: 'string', enum: ['text'] }, text: { type: 'string' } },
          },
        },
      },
    }),
  },
)

export const RunAgentInput = Type.Object(
  {
    threadId: Type.String({
      description:
        '1 to 200 characters. A UUID is the session’s own id, anything else its `external_id`, one for each user. The session is made when it does not exist.',
    }),
    runId: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The same one with the same newest user message joins the first reply; with another: 400.',
    }),
    messages: Type.Array(SentMessage),
    tools: Type.Optional(
      Type.Unsafe({
        description:
          "The page's own functions, 128 at most: a run that calls them ends, and the next one brings their results as messages of role `tool`. A name that the agent has: 400.",
        ...documented({
          type: ['array', 'null'],
          maxItems: MAX_TOOLS,
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: { type: 'string', pattern: TOOL_NAME, examples: ['get_weather'] },
              description: { type: 'string' },
              parameters: { type: 'object', additionalProperties: true, description: 'JSON Schema of an object.' },
            },
          },
        }),
      }),
    ),
    forwardedProps: Type.Optional(
      Type.Unsafe({
        description:
          'Read of it: `user` (with the deploy key: whose session it is) and `on_busy` (while a reply runs, `interrupt`, the default, cancels it first; `reject` answers 409; `enqueue` waits in the queue; `steer` ends it at its next boundary).',
        ...documented({
          type: ['object', 'null'],
          properties: {
            user: { type: ['string', 'null'], maxLength: 200 },
            on_busy: { type: ['string', 'null'], enum: [...whenBusy, null] },
          },
        }),
      }),
    ),
    resume: Type.Optional(
      Type.Unsafe({
        description:
          'Answers to the interrupts of the run before, instead of a message: `payload` `{approved, reason?}`, or `cancelled`, which rejects.',
        ...documented({
          type: ['array', 'null'],
          items: {
            type: 'object',
            required: ['interruptId', 'status'],
            properties: {
              interruptId: { type: 'string' },
              status: { type: 'string', enum: ['resolved', 'cancelled'] },
              payload: {},
            },
          },
        }),
      }),
    ),
  },
  { title: 'RunAgentInput', description: 'Other fields are accepted and ignored.' },
)

const threadId = Type.String()
const runId = Type.String()
const messageId = Type.String({ description: "The reply's id." })
const reasoningId = Type.String({ description: 'Of the reasoning, a message of its own.' })
const toolCallId = Type.String()

export const agUiEvents = [
  Type.Object(
    { type: oneOf(['RUN_STARTED'], 'The first event.'), threadId, runId, protocolVersion: Type.String() },
    { title: 'AgUiRunStarted' },
  ),
  Type.Object(
    { type: oneOf(['TEXT_MESSAGE_START'], 'Before a text.'), messageId, role: oneOf(['assistant'], 'Who speaks.') },
    { title: 'AgUiTextStart' },
  ),
  Type.Object(
    { type: oneOf(['TEXT_MESSAGE_CONTENT'], 'A piece of the text.'), messageId, delta: Type.String() },
    { title: 'AgUiTextContent' },
  ),
  Type.Object({ type: oneOf(['TEXT_MESSAGE_END'], 'After a text.'), messageId }, { title: 'AgUiTextEnd' }),
  Type.Object(
    {
      type: oneOf(
        ['REASONING_START', 'REASONING_MESSAGE_END', 'REASONING_END'],
        'Around what the model thought before it answered.',
      ),
      messageId: reasoningId,
    },
    { title: 'AgUiReasoningBoundary' },
  ),
  Type.Object(
    {
      type: oneOf(['REASONING_MESSAGE_START'], 'Before its text.'),
      messageId: reasoningId,
      role: oneOf(['reasoning'], 'Who speaks.'),
    },
    { title: 'AgUiReasoningStart' },
  ),
  Type.Object(
    { type: oneOf(['REASONING_MESSAGE_CONTENT'], 'A piece of it.'), messageId: reasoningId, delta: Type.String() },
    { title: 'AgUiReasoningContent' },
  ),
  Type.Object(
    {
      type: oneOf(['TOOL_CALL_START'], 'The model calls a tool.'),
      toolCallId,
      toolCallName: Type.String(),
      parentMessageId: messageId,
    },
    { title: 'AgUiToolCallStart' },
  ),
  Type.Object(
    { type: oneOf(['TOOL_CALL_ARGS'], 'Its arguments, JSON text.'), toolCallId, delta: Type.String() },
    { title: 'AgUiToolCallArgs' },
  ),
  Type.Object({ type: oneOf(['TOOL_CALL_END'], 'The call is complete.'), toolCallId }, { title: 'AgUiToolCallEnd' }),
  Type.Object(
    {
      type: oneOf(['STEP_STARTED', 'STEP_FINISHED'], 'Around the answer of an agent that the call asks.'),
      stepName: Type.String({ description: '`child:` and the id of the session that the call makes.' }),
    },
    { title: 'AgUiStep' },
  ),
  Type.Object(
    {
      type: oneOf(['TOOL_CALL_RESULT'], 'What the tool gave.'),
      messageId: Type.String({ description: 'Of the result, a message of its own.' }),
      toolCallId,
      content: Type.String(),
      role: oneOf(['tool'], 'Who speaks.'),
    },
    { title: 'AgUiToolCallResult' },
  ),
  Type.Object(
    {
      type: oneOf(['RUN_FINISHED'], 'The last event of a reply that did not fail.'),
      threadId,
      runId,
      outcome: Type.Optional(
        Type.Object({
          type: oneOf(['success', 'interrupt'], 'How it ended. A cancelled reply has no `outcome`.'),
          interrupts: Type.Optional(
            Type.Array(
              Type.Object({
                id: Type.String({ description: 'Of the call that waits.' }),
                reason: oneOf(['tool_approval'], 'What it waits for.'),
                toolCallId,
                message: Type.String(),
                responseSchema: freeObject('JSON Schema of the answer’s `payload`.'),
              }),
              {
                description:
                  'Calls that wait until somebody approves or rejects them. A new run with `resume` goes on.',
              },
            ),
          ),
        }),
      ),
    },
    { title: 'AgUiRunFinished' },
  ),
  Type.Object(
    {
      type: oneOf(['RUN_ERROR'], 'The last event of a reply that failed.'),
      message: Type.String(),
      code: oneOf(replyErrorCodes, 'Why it failed.'),
    },
    { title: 'AgUiRunError' },
  ),
]

/** The same for every agent: what the wire can, not what a model can. */
export const AgUiCapabilities = Type.Object(
  {
    transport: Type.Object({
      streaming: Type.Boolean(),
      resumable: Type.Boolean({ description: 'The same run sent again is answered from its beginning.' }),
    }),
    tools: Type.Object({
      supported: Type.Boolean(),
      clientProvided: Type.Boolean({ description: 'Tools of the page, in `tools`.' }),
    }),
    reasoning: Type.Object({ supported: Type.Boolean(), streaming: Type.Boolean() }),
    humanInTheLoop: Type.Object({
      supported: Type.Boolean(),
      approvals: Type.Boolean(),
      interrupts: Type.Boolean(),
    }),
  },
  { title: 'AgUiCapabilities' },
)
