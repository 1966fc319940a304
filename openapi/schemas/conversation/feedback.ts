/** The opinions of users and of people at the playground of replies. */
import Type from 'typebox'
import { nullable, oneOf, time } from '../basics.ts'

const score = Type.Unsafe<1 | -1>({ type: 'integer', enum: [1, -1], description: '1: good, -1: bad.' })
const comment = nullable(
  Type.String({
    minLength: 1,
    maxLength: 2000,
    description: 'Why, in 1 to 2,000 characters. Null when nothing was said.',
  }),
)
export const FeedbackRequest = Type.Object({ score, comment: Type.Optional(comment) }, { title: 'FeedbackRequest' })
const given = time('When it was given first.')
const changed = time('When it was changed last.')
export const Feedback = Type.Object({ score, comment, created_at: given, updated_at: changed }, { title: 'Feedback' })
export const PlaygroundFeedback = Type.Object(
  { score, comment, createdAt: given, updatedAt: changed },
  { title: 'PlaygroundFeedback' },
)
/** The form in which messages of the playground carry it. */
export const allFeedback = Type.Optional(
  Type.Array(
    Type.Object(
      {
        by: oneOf(['user', 'login'], 'The session’s user, or somebody at the playground.'),
        name: nullable(Type.String({ description: 'Name of the user, login or key. Null when it has none.' })),
        score,
        comment,
        createdAt: given,
        updatedAt: changed,
      },
      { title: 'GivenFeedback' },
    ),
    { description: 'What was thought of the reply. Absent where nobody said.' },
  ),
)
