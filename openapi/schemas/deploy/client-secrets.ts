/** Client secrets and users. Names are in snake case, as everywhere in the deploy API. */
import Type from 'typebox'
import { name, nullable, oneOf } from '../basics.ts'
import { Connections } from '../conversation/connections.ts'
import { RememberedDecisions } from '../conversation/remembered.ts'
import { DeployMessage } from '../conversation/replies.ts'
import { DeploySession } from '../conversation/sessions.ts'

export const ClientSecretRequest = Type.Object(
  {
    user: name('The end user, by any name that the backend knows them by.'),
    session_id: Type.Optional(
      nullable(
        Type.String({ description: 'The only session that the secret opens. Absent or null: all of the user.' }),
      ),
    ),
    expires_after: Type.Optional(
      Type.Unsafe({
        ...Type.Object({
          anchor: Type.Optional(oneOf(['created_at'], 'From when on: now.')),
          seconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 7200, description: '600 by default.' })),
        }),
        type: ['object', 'null'],
        description: 'How long the secret is good.',
      }),
    ),
  },
  { title: 'ClientSecretRequest' },
)

export const ClientSecret = Type.Object(
  {
    value: Type.String({ description: 'The secret, beginning with `ek_`. It is not stored, and never shown again.' }),
    expires_at: Type.Integer({ description: 'Unix seconds.' }),
    user: name('The end user.'),
    session_id: nullable(Type.String({ format: 'uuid', description: 'The only session that it opens, or null.' })),
  },
  { title: 'ClientSecret' },
)

const { decisions } = RememberedDecisions.properties

const ExportedMessage = Type.Object(
  {
    ...DeployMessage.properties,
    outputs: Type.Optional(
      Type.Array(
        Type.Object({
          call_id: Type.String(),
          output: Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() }))], {
            description: 'A text, or a list of `input_text`, `input_image` and `input_file` where it held more.',
          }),
        }),
        { description: 'Outputs that the caller gave for calls of the message. Absent where there are none.' },
      ),
    ),
  },
  { title: 'ExportedMessage' },
)

export const SessionExport = Type.Object(
  { ...DeploySession.properties, messages: Type.Array(ExportedMessage), decisions: Type.Optional(decisions) },
  {
    title: 'SessionExport',
    description: 'A session, with its messages and, where it has some, its remembered decisions beside.',
  },
)

/** A line behind the sessions. */
export const DecisionsExport = Type.Object(
  { decisions },
  { title: 'DecisionsExport', description: 'What is remembered for the user in all sessions.' },
)

/** The last line of an export. */
export const ConnectionsExport = Type.Object(
  { connections: Connections.properties.connections },
  { title: 'ConnectionsExport', description: 'The MCP servers that the user has signed in at.' },
)
