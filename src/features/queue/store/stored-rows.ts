/**
 * The columns of JSON of `queued_messages`, which outlive an upgrade. SQL writes both, under a version; a row without one is
 * of the first. A field that is added is optional. To rename or remove one, add a version, which begin_next and `decodeBegun`
 * read beside the others. stored-rows.test.ts keeps a record of each.
 */
import Type, { type Static } from 'typebox'
import type { CallAnswer, LimitsInForce, MessagePlace, NoPlace } from '../../../actors/ports/index.ts'
import type { RestState } from '../../../actors/reply/reply-event.ts'
import type { admissionColumns } from '../../../persistence/replies/admission/admission.ts'
import { factsSchema } from '../../../persistence/replies/stored/stored-columns.ts'
import { orNull, strict } from '../../../persistence/stored-forms/shared-schemas.ts'
import { decoder, type SameFields } from '../../../persistence/stored-json.ts'

const name = orNull(Type.String())
const version = Type.Optional(Type.Literal(1))

const limitFields = {
  requestsPerMinute: Type.Optional(Type.Number()),
  concurrentReplies: Type.Optional(Type.Number()),
  tokensPerDay: Type.Optional(Type.Number()),
  costPerMonth: Type.Optional(Type.Number()),
}

/** `queued_messages.message`: written by enqueue_message.sql, read by begin_next.sql. */
export const messageSchema = Type.Object(
  {
    version,
    agent_id: Type.String(),
    session_id: Type.String(),
    user_id: Type.String(),
    reply_id: Type.String(),
    include_usage: Type.Boolean(),
    decided_by: Type.Optional(name),
    answers: Type.Optional(Type.Array(Type.Object({ id: Type.String(), output: Type.String() }))),
    place: Type.Optional(Type.Union([Type.Object({ parent: name }), Type.Object({ regenerate: name })])),
    facts: Type.Optional(factsSchema),
    uses_values: Type.Optional(Type.Boolean()),
    limits: Type.Optional(
      Type.Object({
        key: Type.Optional(Type.Object({ ...limitFields, id: Type.String() })),
        user: Type.Optional(Type.Object(limitFields)),
      }),
    ),
  },
  strict,
)

/** `queued_messages.admission`: the answer of the admission when the message began, written by begin_next.sql. */
export const begunSchema = Type.Object({
  version,
  outcome: Type.Literal('admitted'),
  reply_id: Type.String(),
  session_num: Type.Number(),
  first_seq: Type.Number(),
  created_at: Type.String(),
  position: Type.Number(),
  rest_state: Type.Unsafe<RestState>(Type.String()),
  untitled: Type.Boolean(),
  first_text: Type.Optional(name),
  parent_id: name,
  history_end: Type.Number(),
  text: Type.Optional(name),
  values: Type.Optional(orNull(Type.Object({ user: name, metadata: Type.Record(Type.String(), Type.String()) }))),
  history: Type.Optional(Type.Unknown()), // always null: it would be stored twice
  rate: Type.Optional(orNull(Type.Object({ limit: Type.Number(), remaining: Type.Number(), reset: Type.Number() }))),
  is_child: Type.Optional(Type.Boolean()),
  fault: orNull(Type.Unsafe<NoPlace>(Type.String())),
})

export const decodeBegun = decoder('The beginning of a queued message', begunSchema)

/** Keys of an admission that do not matter once the message waits, or that have columns of their own. */
type NotStored =
  | 'key'
  | 'body_hash'
  | 'is_retry'
  | 'may_start'
  | 'may_queue'
  | 'configuration'
  | 'pin'
  | 'make_session'
  | 'external_id'
  | 'secret_number'
  | 'begins'
  | 'parts'
  | 'texts'
  | 'derived_title'
  | 'title_is_draft'
  | 'model'
  | 'end_user'
  | 'on_busy'
  | 'input'
  | 'max_session_bytes'
  | 'max_user_bytes'
  | 'max_user_sessions'
  | 'history'
  | 'wait_id'
  | 'decisions'
  | 'decisions_hash'
  | 'in_part'

type Keys<T> = T extends unknown ? keyof T : never
type Stored = Static<typeof messageSchema>
/** Does not compile when an admission has a key that is neither stored nor left out, or a type is not what is stored. */
true satisfies SameFields<
  Exclude<keyof Stored, 'version'>,
  Exclude<Keys<ReturnType<typeof admissionColumns>>, NotStored>
>
true satisfies SameFields<
  Pick<Stored, 'answers' | 'place' | 'limits'>,
  { answers?: readonly CallAnswer[]; place?: MessagePlace; limits?: LimitsInForce }
>
