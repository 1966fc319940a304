/** Read-only shares of sessions. */
import Type from 'typebox'
import { camelCased } from '../../camel-case.ts'
import { id, nullable, optional, time } from '../basics.ts'

const include = Type.Array(Type.Union([Type.Literal('tools'), Type.Literal('reasoning')]), {
  description: 'What is shown besides the texts: calls of tools with their results, reasoning.',
})
const live = Type.Boolean({
  description:
    'Whether what follows is shown too, running replies among it. Else the path to the head at the creation.',
})
const expires = nullable(Type.Integer({ description: 'Unix seconds, within 366 days. Null: until it is revoked.' }))
const share = {
  id: id('Id of the share.'),
  live,
  include,
  expires_at: expires,
  created_at: time('When it was made.'),
}
const secret = {
  token: Type.String({ description: 'Shown here only.' }),
  path: Type.String({ description: 'The path of the page that shows the session, with the token.' }),
}
const given = optional({ live, include, expires_at: expires })

const Share = Type.Object(share, { title: 'Share' })
export const CreatedShare = Type.Object({ ...share, ...secret }, { title: 'CreatedShare' })
export const ShareList = Type.Object({ shares: Type.Array(Share) }, { title: 'ShareList' })
export const ShareCreate = Type.Object(given, { title: 'ShareCreate' })

const PlaygroundShare = Type.Object(camelCased(share), { title: 'PlaygroundShare' })
export const CreatedPlaygroundShare = Type.Object(
  { ...camelCased(share), ...secret },
  { title: 'CreatedPlaygroundShare' },
)
export const PlaygroundShareList = Type.Object(
  { shares: Type.Array(PlaygroundShare) },
  { title: 'PlaygroundShareList' },
)
export const PlaygroundShareCreate = Type.Object(optional({ live, include, expiresAt: expires }), {
  title: 'PlaygroundShareCreate',
})
