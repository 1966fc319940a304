/** The answer of take_over_reply.sql. */
import Type, { type Static } from 'typebox'
import {
  type AnswerDecision,
  answerDecisions,
  type CallDecision,
  callDecisions,
  type HandoverReason,
  handoverReasons,
} from '../../../actors/reply/reply-event.ts'
import { orNull } from '../../../persistence/stored-forms/shared-schemas.ts'
import { decoder } from '../../../persistence/stored-json.ts'

const schema = Type.Object({
  reason: Type.Unsafe<HandoverReason>(Type.Enum([...handoverReasons])),
  from: Type.String(),
  agent_id: Type.String(),
  facts: Type.Unknown(),
  cancelled: Type.Boolean(),
  elapsed_ms: Type.Number(),
  answered_id: orNull(Type.String()),
  has_parts: Type.Boolean(),
  text: orNull(Type.String()),
  history_end: orNull(Type.Integer()),
  untitled: Type.Boolean(),
  first_text: orNull(Type.String()),
  values: Type.Object({ user: orNull(Type.String()), metadata: Type.Unsafe<Record<string, string>>(Type.Object({})) }),
  /** Absent in what an older version wrote. */
  is_child: Type.Optional(Type.Boolean()),
  continues: orNull(Type.String()),
  decisions: orNull(
    Type.Array(
      Type.Object({
        id: Type.String(),
        decision: Type.Unsafe<CallDecision>(Type.Enum([...callDecisions])),
        arguments: Type.Optional(Type.String()),
        output: Type.Optional(Type.String()),
        reason: Type.Optional(Type.String()),
        joins: Type.Optional(Type.Boolean()),
        again: Type.Optional(
          Type.Object({
            state: Type.Optional(Type.String()),
            of: Type.String(),
            answers: Type.Array(
              Type.Object({
                key: Type.String(),
                decision: Type.Unsafe<AnswerDecision>(Type.Enum([...answerDecisions])),
                content: Type.Optional(Type.String()),
              }),
            ),
          }),
        ),
      }),
    ),
  ),
  decided_by: orNull(Type.String()),
  turn_rows: orNull(Type.Array(Type.Object({ n: Type.Integer(), body: Type.String() }))),
  first_token_ms: orNull(Type.Integer()),
  attempts: Type.Integer(),
  turns: Type.Integer(),
  tools: Type.Integer(),
})
export type ClaimAnswer = Static<typeof schema>

export const decodeClaim = decoder('What is known of a reply that is taken over', schema)
