/** Replays: stored questions that are asked again under another version. */
import Type from 'typebox'
import { documented } from '../../documented.ts'
import { count, id, listOf, nullable, objectOrNull, oneOf, page, time } from '../basics.ts'
import { repliedVersion } from './drafts.ts'

const version = Type.Unsafe<number | 'draft'>({
  anyOf: [
    { type: 'integer', minimum: 1 },
    { type: 'string', enum: ['draft'] },
  ],
  description: 'The version that is asked, or the draft as it was.',
})
const caseStatuses = ['pending', 'running', 'complete', 'diverged', 'error', 'cancelled'] as const
const tokens = Type.Object({ promptTokens: count('Tokens read.'), completionTokens: count('Tokens written.') })
const cost = nullable(Type.Number({ description: 'By the stored prices. Null where a model has none.' }))

export const Replay = Type.Object(
  {
    id: id('Id of the replay.'),
    agentId: id('Id of the agent.'),
    version,
    status: oneOf(['running', 'complete', 'cancelled'], 'Whether it runs.'),
    concurrency: count('Cases that run at a time, at most.'),
    counts: Type.Object({
      total: count('Cases.'),
      ...Object.fromEntries(caseStatuses.map((status) => [status, count(`Cases that are ${status}.`)])),
      better: count('Verdicts.'),
      same: count('Verdicts.'),
      worse: count('Verdicts.'),
    }),
    usage: tokens,
    cost,
    createdAt: time('When it was created.'),
    createdBy: nullable(Type.String({ description: 'Name of the login or key.' })),
    endedAt: nullable(time('When it ended.')),
  },
  { title: 'Replay' },
)
export const ReplayList = listOf('ReplayList', 'replays', Replay)
export const ReplayCreate = Type.Object(
  {
    version: Type.Unsafe<unknown>({
      description: 'A number, or `draft`: as it is now, for the whole replay.',
      ...documented({
        anyOf: [
          { type: 'integer', minimum: 1 },
          { type: 'string', enum: ['draft'] },
        ],
      }),
    }),
    replies: Type.Unsafe<unknown>({
      description:
        'Ids of 1 to 200 replies of the agent’s sessions, or `{feedback?, since?, limit?}`: the newest that match (`up`, `down` or `any`; an ISO time; 1 to 200, 50 by default).',
      ...documented({
        anyOf: [
          { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 200 },
          {
            type: 'object',
            properties: {
              feedback: { type: 'string', enum: ['up', 'down', 'any'] },
              since: { type: 'string', format: 'date-time' },
              limit: { type: 'integer', minimum: 1, maximum: 200 },
            },
          },
        ],
      }),
    }),
    concurrency: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 4, description: 'Cases that run at a time, at most. 2 by default.' }),
    ),
  },
  { title: 'ReplayCreate' },
)

const caseReply = (description: string) =>
  objectOrNull(
    {
      version: repliedVersion,
      model: nullable(Type.String({ description: 'The model that answered last.' })),
      content: Type.String(),
      toolCalls: Type.Array(Type.Object({ name: Type.String(), arguments: Type.String() })),
      finishReason: nullable(Type.String({ description: 'Why it ended. Null where it failed, or did not end.' })),
      usage: Type.Unsafe({ ...tokens, type: ['object', 'null'] }),
      cost,
      durationMs: nullable(count('Milliseconds.')),
    },
    description,
  )
export const ReplayCase = Type.Object(
  {
    messageId: id('Id of the reply.'),
    sessionId: id('Id of its session.'),
    status: oneOf(caseStatuses, '`diverged`: it called a tool in a way that is not on record.'),
    question: Type.String({ description: 'The text of the question.' }),
    old: caseReply('The reply as it is stored. Null until the case has ended.'),
    new: caseReply('The reply under the version. Null until the case has ended.'),
    divergence: objectOrNull(
      {
        name: Type.String(),
        arguments: Type.String({ description: 'JSON text as the model wrote it.' }),
        position: count('How many calls had been answered before.'),
      },
      'The call that is not on record. Null without one.',
    ),
    error: objectOrNull({ code: Type.String(), message: Type.String() }, 'Why it failed. Null when it did not.'),
    verdict: nullable(oneOf(['better', 'same', 'worse'], 'What somebody thinks of it.')),
    comment: nullable(Type.String()),
  },
  { title: 'ReplayCase' },
)
export const ReplayDetail = Type.Object(
  {
    ...Replay.properties,
    cases: Type.Array(ReplayCase),
    total: count('Total number of cases.'),
    limit: count('The limit used, after capping.'),
    offset: count('The offset used.'),
  },
  { title: 'ReplayDetail' },
)
export const replayPage = page
export const Verdict = Type.Object(
  {
    verdict: nullable(oneOf(['better', 'same', 'worse'], 'Null takes it back.')),
    comment: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: 2000, description: '1 to 2,000 characters.' })),
    ),
  },
  { title: 'ReplayVerdict' },
)
