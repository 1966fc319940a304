/** The trace of a reply. */
import Type from 'typebox'
import { count, freeObject, id, nullable, oneOf, time } from '../basics.ts'
import { childPlace } from '../conversation/playground.ts'
import { repliedVersion } from '../records/drafts.ts'

export const spanKinds = ['reply', 'model', 'attempt', 'tool', 'handover', 'settle'] as const

const Span = Type.Object(
  {
    id: Type.String({ description: 'Unique within the trace.' }),
    parentId: nullable(Type.String({ description: 'Id of the enclosing span.' })),
    kind: oneOf(
      spanKinds,
      '`model`: one for each turn; `attempt`: one for each call to a provider; `handover`: another instance goes on with it; `settle`: the outcome is stored.',
    ),
    name: Type.String({ description: 'A model, a tool, or what kind of work it is.' }),
    startMs: count('Milliseconds from the admission of the reply.'),
    endMs: nullable(count('Milliseconds from the admission of the reply. Null while it runs.')),
    ok: nullable(Type.Boolean({ description: 'Null while it runs.' })),
    detail: freeObject(
      'Of an attempt: `status` of its answer, `code` of its failure, `firstTokenMs` from the admission of the reply, `waitMs` before the next attempt; each null where there was none. Of a handover: `reason`, `from` (the instance). Of a reply: `requestId`, the `x-request-id` of the request that asked for it, absent where it is not known; `decidedBy` where decisions started it. Codes and counts, never content.',
    ),
    child: Type.Optional(childPlace),
  },
  { title: 'ReplySpan' },
)

export const ReplyTrace = Type.Object(
  {
    messageId: id('Id of the reply.'),
    agentVersion: repliedVersion,
    startedAt: time('When it was admitted.'),
    spans: Type.Array(Span),
  },
  {
    title: 'ReplyTrace',
    description: 'Kept for `TRACE_RETENTION_DAYS`; after that the reply and its settlement remain.',
  },
)

const ModelRequest = Type.Object(
  {
    turn: Type.Integer({ minimum: 1, description: 'Model turn of the reply, from 1.' }),
    at: time('When it was sent.'),
    providerId: id('The provider.'),
    model: Type.String({ description: 'The model.' }),
    body: freeObject(
      'As the provider got it. Secrets are removed; the bytes of a part stand as `sha256:<hex>`; what is gone since reads `[gone: …]`.',
    ),
    left: Type.Object(
      {
        messages: count('Stored messages.'),
        tokens: count('Their tokens, estimated.'),
        reason: nullable(
          oneOf(
            ['budget', 'provider_limit', 'compacted'],
            'Why: the budget, a limit of the model, or a summary in their place. Null when all was sent.',
          ),
        ),
      },
      { description: 'How much of the history was not sent.' },
    ),
  },
  { title: 'ReplyModelRequest' },
)

export const ReplyRequests = Type.Object(
  { requests: Type.Array(ModelRequest, { description: 'One for each model turn; its last attempt.' }) },
  { title: 'ReplyRequests' },
)
