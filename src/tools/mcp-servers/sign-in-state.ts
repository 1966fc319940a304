/** The stored state of a call that waits for a sign-in: JSON, encrypted, beside the call. */
import type { Static } from 'typebox'
import Type from '../../../openapi/type.ts'
import { type AnswerDecision, answerDecisions } from '../../actors/reply/reply-event.ts'
import { schemaCheck } from '../../untrusted/schema-check.ts'

const schema = Type.Object({
  /** The scopes that are asked for. Absent: those that the server's metadata name. */
  scope: Type.Optional(Type.String()),
  /** The address of the server's metadata, where it named one. */
  metadata: Type.Optional(Type.String()),
  /** The answers that the call was to be sent with. */
  again: Type.Optional(
    Type.Object({
      of: Type.String(),
      state: Type.Optional(Type.String()),
      answers: Type.Array(
        Type.Object({
          key: Type.String(),
          decision: Type.Unsafe<AnswerDecision>(Type.Enum([...answerDecisions])),
          content: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
})

export type SignInState = Static<typeof schema>

const checked = schemaCheck(schema)

/** Reads it. Throws for what is not of this form. */
export function readSignInState(text: string): SignInState {
  const state: unknown = JSON.parse(text)
  if (checked.fits(state)) return state
  throw new Error('The state of a sign-in is stored in a form that is not known.')
}
