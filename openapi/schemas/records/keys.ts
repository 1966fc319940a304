/** Named keys of the deploy and management APIs. */
import Type from 'typebox'
import { roles } from '../../operation.ts'
import { id, listOf, name, nullable, oneOf, optional, timestamps } from '../basics.ts'
import { limitsInput, limitsOf, priceWarning } from '../limits.ts'

const scopes = Type.Array(
  Type.Unsafe<'deploy' | 'management' | 'management:read' | 'audit:read'>({
    type: 'string',
    enum: ['deploy', 'management', 'management:read', 'audit:read'],
  }),
  {
    minItems: 1,
    description:
      '`deploy`: the deploy API of its agents. `management`: as a login. `management:read`: its GETs alone. `audit:read`: the audit alone.',
  },
)
const role = nullable(
  oneOf(roles, 'Narrows what `management` and `management:read` open to what this role may do. Null: all of it.'),
)
const agentIds = Type.Unsafe<string[] | null>({
  type: ['array', 'null'],
  items: { type: 'string' },
  description:
    'Agents that it opens. Null means all agents. A deleted agent leaves the list; an empty one opens nothing.',
})
const expiresAt = nullable(
  Type.String({
    format: 'date-time',
    description: 'From then on it opens nothing; in the future. Null means that it does not expire.',
  }),
)
const WHOSE = 'of all that is asked for with the key, and with client secrets that were made with it'
const limits = limitsInput(WHOSE)
const fields = { name: name('What the key is for.'), agentIds, limits, expiresAt }

const record = {
  id: id('Id of the key.'),
  name: name('What the key is for.'),
  hint: Type.String({ description: 'The last four characters of the key.' }),
  scopes,
  role,
  agentIds,
  limits: limitsOf(WHOSE),
  expiresAt,
  lastUsedAt: nullable(Type.String({ format: 'date-time', description: 'To a minute. Null when it was never used.' })),
  createdBy: nullable(Type.String({ description: 'Name of the login that made it. Null when no login was required.' })),
  ...timestamps,
}
export const Key = Type.Object({ ...record, warning: priceWarning }, { title: 'Key' })
export const KeyList = listOf('KeyList', 'keys', Key)
export const KeyCreated = Type.Object(
  {
    ...record,
    key: Type.String({ description: 'The key itself, this once: `gr_` and 43 characters.' }),
    warning: Type.Optional(Type.String({ description: 'Why it may not do what was meant.' })),
  },
  { title: 'KeyCreated' },
)
export const KeyCreate = Type.Object(
  { name: name('What the key is for.'), scopes, ...optional({ role, agentIds, limits, expiresAt }) },
  { title: 'KeyCreate' },
)
export const KeyUpdate = Type.Object(optional({ ...fields, scopes, role }), {
  title: 'KeyUpdate',
  description: '`scopes` and `role` are ignored if equal to the stored ones, else 400: they cannot change.',
})
