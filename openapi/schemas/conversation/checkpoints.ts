/** Summaries of conversations. */
import Type from 'typebox'
import { id, time } from '../basics.ts'
import { Usage } from './chat.ts'
import { playgroundUsage } from './playground.ts'

const texts = {
  summary: Type.String({
    description: 'Later replies on the path are sent it in place of the messages that it covers.',
  }),
  model: Type.String({ description: 'The model that made it.' }),
}

export const Checkpoint = Type.Object(
  {
    id: id('Id of the summary.'),
    through_message_id: id('The last message that it covers. It belongs to the paths through that message.'),
    ...texts,
    created_at: time('When it was made.'),
    usage: Usage,
  },
  { title: 'Checkpoint' },
)
export const CheckpointList = Type.Object(
  { checkpoints: Type.Array(Checkpoint, { description: 'Of all branches, oldest first.' }) },
  { title: 'CheckpointList' },
)

export const PlaygroundCheckpoint = Type.Object(
  {
    id: id('Id of the summary.'),
    throughMessageId: id('The last message that it covers. It belongs to the paths through that message.'),
    ...texts,
    createdAt: time('When it was made.'),
    usage: Type.Object(playgroundUsage),
  },
  { title: 'PlaygroundCheckpoint' },
)
export const PlaygroundCheckpointList = Type.Object(
  { checkpoints: Type.Array(PlaygroundCheckpoint, { description: 'Of all branches, oldest first.' }) },
  { title: 'PlaygroundCheckpointList' },
)
