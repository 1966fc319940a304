/** Summaries of conversations. */
import Type, { type TSchema } from 'typebox'
import { camelCased } from '../../camel-case.ts'
import { id, time } from '../basics.ts'
import { Usage } from './chat.ts'
import { playgroundUsage } from './playground.ts'

const checkpoint = {
  id: id('Id of the summary.'),
  through_message_id: id('The last message that it covers. It belongs to the paths through that message.'),
  summary: Type.String({
    description: 'Later replies on the path are sent it in place of the messages that it covers.',
  }),
  model: Type.String({ description: 'The model that made it.' }),
  created_at: time('When it was made.'),
}
export const Checkpoint = Type.Object({ ...checkpoint, usage: Usage }, { title: 'Checkpoint' })
export const PlaygroundCheckpoint = Type.Object(
  { ...camelCased(checkpoint), usage: Type.Object(playgroundUsage) },
  { title: 'PlaygroundCheckpoint' },
)

const listOfAll = (one: TSchema, title: string) =>
  Type.Object({ checkpoints: Type.Array(one, { description: 'Of all branches, oldest first.' }) }, { title })
export const CheckpointList = listOfAll(Checkpoint, 'CheckpointList')
export const PlaygroundCheckpointList = listOfAll(PlaygroundCheckpoint, 'PlaygroundCheckpointList')
