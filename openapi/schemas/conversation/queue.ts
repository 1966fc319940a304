/** The queue of a session (contract section 22), for deploy and playground. */
import Type from 'typebox'
import { count, id, oneOf, time } from '../basics.ts'

/** The effects of a message while a reply runs. */
export const whenBusy = ['reject', 'interrupt', 'enqueue', 'steer'] as const

/** Returns the schema of the field. `by`: the effect that applies when none is named. */
export const onBusy = (by: 'reject' | 'interrupt') =>
  oneOf(
    whenBusy,
    `While a reply runs: \`reject\` answers 409, \`interrupt\` cancels it first, \`enqueue\` waits in the session's queue (20 at most), \`steer\` ends it at its next boundary and follows. \`${by}\` by default.`,
  )

export const QueuedMessage = Type.Object(
  {
    id: id('Id of the message, which it keeps.'),
    content: Type.String(),
    created_at: time('When it was sent.'),
    position: count('1 is next.'),
  },
  { title: 'QueuedMessage' },
)
export const Queue = Type.Object(
  { queue: Type.Array(QueuedMessage, { description: 'Next one first. Twenty at most.' }) },
  { title: 'Queue' },
)

const PlaygroundQueuedMessage = Type.Object(
  {
    id: id('Id of the message, which it keeps.'),
    content: Type.String(),
    createdAt: time('When it was sent.'),
    position: count('1 is next.'),
  },
  { title: 'PlaygroundQueuedMessage' },
)
export const PlaygroundQueue = Type.Object(
  { queue: Type.Array(PlaygroundQueuedMessage, { description: 'Next one first. Twenty at most.' }) },
  { title: 'PlaygroundQueue' },
)

export const CancelRequest = Type.Object(
  { queue: Type.Optional(oneOf(['clear'], 'Empties the queue as well.')) },
  { title: 'CancelRequest' },
)
