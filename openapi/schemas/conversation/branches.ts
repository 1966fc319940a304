/**
 * The branches of a conversation (contract section 14): the place of a message, the path that is read, and the origin
 * of forks.
 */
import Type from 'typebox'
import { camelCased } from '../../camel-case.ts'
import { count, id, nullable } from '../basics.ts'

/** The fields of a request that place its message. */
export const deployPlace = {
  parent_id: Type.Optional(
    nullable(
      Type.String({
        description:
          'The reply after which the message is put; null for the beginning. After the head by default. So a message is edited: the new text beside the old one. Unknown, or no reply of this session: 400.',
      }),
    ),
  ),
  regenerate: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          "When true, another reply to a user message that is there already is generated, by default the path's last one. Nothing new is sent. 400 when there is nothing to answer.",
      }),
    ),
  ),
  message_id: Type.Optional(
    nullable(
      Type.String({
        description:
          'With `regenerate`: the user message to answer, by its own id or by that of a reply to it, on any branch. Unknown: 400.',
      }),
    ),
  ),
}

export const playgroundPlace = camelCased(deployPlace)

export const parentId = nullable(id('The message before it on its path. Null when it is a first one.'))
export const headId = nullable(id('The last message of the path that reads show. Null when there is none.'))

export const branches = Type.Optional(
  Type.Unsafe({
    type: 'string',
    enum: ['all'],
    description:
      '`all`: the messages of every branch, in the order in which they were made. The path to the head by default.',
  }),
)

const head = {
  message_id: Type.String({ description: 'The path goes through it, to the leaf below it that was made last.' }),
}
export const HeadChange = Type.Object(head, { title: 'HeadChange' })
export const PlaygroundHeadChange = Type.Object(camelCased(head), { title: 'PlaygroundHeadChange' })

export const PlaygroundFrames = Type.Object(
  {
    frames: Type.Array(
      Type.Object({
        id: count('Id of the frame, as in `frameId` of a fork.'),
        offset: count('Where it ends in the content, in UTF-16 code units.'),
      }),
    ),
  },
  { title: 'PlaygroundFrames' },
)

const forked = {
  session_id: id('The session it was copied from; it may be gone.'),
  message_id: nullable(id('The last message that was copied, by its id there. Null when there was none.')),
  frame_id: nullable(
    Type.Integer({ minimum: 0, description: 'The frame up to which it was copied. Null when all of it was copied.' }),
  ),
}
const forkedFrom = (properties: Parameters<typeof Type.Object>[0]) =>
  Type.Unsafe({
    ...Type.Object(properties),
    type: ['object', 'null'],
    description: 'What the session is a copy of. Null when it is none.',
  })
export const deployForkedFrom = forkedFrom(forked)
export const playgroundForkedFrom = forkedFrom(camelCased(forked))

const parent = {
  agent_id: id('The agent that called.'),
  session_id: id('The session of the call.'),
  message_id: id('The reply that made the call.'),
  call_id: Type.String({ description: 'The call in that reply.' }),
}
const parentOf = (properties: Parameters<typeof Type.Object>[0]) =>
  Type.Unsafe({
    ...Type.Object(properties),
    type: ['object', 'null'],
    description: 'The call that made the session. Null when none did.',
  })
export const deployParent = parentOf(parent)
export const playgroundParent = parentOf(camelCased(parent))

const fork = {
  session_id: Type.String({ description: 'The session to copy. One that the caller may not read: 404.' }),
  message_id: Type.Optional(
    nullable(
      Type.String({ description: 'Its path up to this message is copied. Up to the head by default. Unknown: 400.' }),
    ),
  ),
  frame_id: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Id of a frame of the last reply, which is copied up to and with it: exactly what a reader had seen then. All of it by default.',
      }),
    ),
  ),
}
const forkOf = (properties: Parameters<typeof Type.Object>[0]) =>
  Type.Optional(
    Type.Unsafe({
      ...Type.Object(properties),
      type: ['object', 'null'],
      description:
        'A conversation to begin with a copy of. Copies have new ids and no frames. Title, user and metadata are those of that session where they are absent.',
    }),
  )
export const deployForkOf = forkOf(fork)
export const playgroundForkOf = forkOf(camelCased(fork))
