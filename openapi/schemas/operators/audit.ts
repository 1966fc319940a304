/** The audit: who changed what. */
import Type from 'typebox'
import { id, listOf, nullable, oneOf, searchPage, time } from '../basics.ts'

const change = { type: 'object', required: ['from', 'to'], properties: { from: {}, to: {} } }

export const AuditEntry = Type.Object(
  {
    id: id('Id of the entry.'),
    at: time('When it happened.'),
    actor: nullable(Type.String({ description: 'Name of the login, key or end user. Null when that has no name.' })),
    actorKind: oneOf(['login', 'oidc', 'key', 'deploy_key', 'client_secret', 'system'], 'What the actor came with.'),
    action: oneOf(
      [
        'create',
        'update',
        'delete',
        'import',
        'export',
        'login',
        'login_failed',
        'logout',
        'revoke',
        'decide',
        'read',
        'publish',
      ],
      'What was done.',
    ),
    kind: Type.String({ description: 'Kind of record, such as `prompt`.' }),
    recordId: nullable(Type.String()),
    recordName: nullable(Type.String({ description: 'Its name then.' })),
    changes: Type.Unsafe<Record<string, { from: unknown; to: unknown }>>({
      type: 'object',
      additionalProperties: change,
      description:
        'Each field that changed. Secrets are `***`; a value above 2,000 characters is a text (of its JSON) that is cut there, at `…`.',
    }),
    ip: nullable(Type.String({ description: 'Address of the caller.' })),
    requestId: nullable(Type.String({ description: 'As in the log.' })),
  },
  { title: 'AuditEntry' },
)
export const AuditEntryList = listOf('AuditEntryList', 'entries', AuditEntry)

export const AuditFeed = Type.Object(
  {
    entries: Type.Array(AuditEntry),
    next: Type.String({ description: 'Continue from here (`after`), also where `entries` is empty.' }),
  },
  { title: 'AuditFeed' },
)

const filter = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))
export const auditPage = Type.Object({
  limit: searchPage.properties.limit,
  offset: searchPage.properties.offset,
  after: Type.Optional(
    Type.String({
      description:
        'Collects the audit: answers `{entries, next}`, oldest first in the order of their commits. `0` for the oldest, or the `next` of an earlier answer; not with `from`, `to` or `offset`.',
    }),
  ),
  q: filter("Only entries whose actor's name, record's name or record's id contains this text, ignoring case."),
  actor: filter('Only entries of this actor.'),
  kind: filter('Only entries about this kind of record.'),
  from: filter('Only entries from this time on, ISO 8601.'),
  to: filter('Only entries before this time, ISO 8601.'),
})
