/** The stored state of a call that waits for a sign-in: JSON, encrypted, beside the call. */
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { type AnswerDecision, answerDecisions } from '../../actors/reply/reply-event.ts'

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

let compiled: ReturnType<typeof Compile<typeof schema>> | null = null

/** Reads it. Throws for what is not of this form. */
export function readSignInState(text: string): SignInState {
  compiled ??= Compile(schema)
  const state: unknown = JSON.parse(text)
  if (compiled.Check(state)) return state
  throw new Error('The state of a sign-in is stored in a form that is not known.')
}
