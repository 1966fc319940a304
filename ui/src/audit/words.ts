/** The texts of audit entries. */
import type { components } from '../../../openapi/generated/schema.ts'

type AuditEntry = components['schemas']['AuditEntry']

export const actions: Record<AuditEntry['action'], string> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  import: 'imported',
  export: 'exported',
  login: 'logged in',
  login_failed: 'failed to log in',
  logout: 'logged out',
  revoke: 'revoked',
  decide: 'decided',
  read: 'read',
  publish: 'published',
}

/** A record's kind; what has no word here is shown as it is. */
export const kinds: Readonly<Record<string, string>> = {
  agent: 'Agent',
  agentTools: 'Tools of an agent',
  prompt: 'Prompt',
  provider: 'Provider',
  httpTool: 'HTTP tool',
  mcpServer: 'MCP server',
  prices: 'Prices',
  key: 'Key',
  configuration: 'Configuration',
  login: 'Login',
  user: 'User',
  call: 'Call',
  session: 'Session',
  webhook: 'Webhook',
  agentDraft: 'Draft of an agent',
  replay: 'Replay',
  share: 'Share',
  connection: 'Connection',
}

const logins: Partial<Record<AuditEntry['action'], string>> = {
  login: 'Logged in',
  login_failed: 'Failed to log in',
  logout: 'Logged out',
}

/** Returns what was done. Of a login, whose record is the person, without the record. */
export const whatWords = ({ kind, action }: Pick<AuditEntry, 'kind' | 'action'>): string =>
  (kind === 'login' ? logins[action] : undefined) ?? `${kinds[kind] ?? kind} ${actions[action]}`

export function actorName({ actor, actorKind }: AuditEntry): string {
  if (actor !== null) return actor
  return actorKind === 'deploy_key' ? 'The deploy key' : actorKind === 'system' ? 'The server' : 'Anonymous'
}

/** Returns the user of sessions whom an entry names: its record, or the holder of a client secret. Null for no user. */
export const userOf = ({ actor, actorKind, kind, recordName }: AuditEntry): string | null =>
  kind === 'user' ? recordName : actorKind === 'client_secret' ? actor : null

/** Returns by which means they were known; where no login is set up, nobody is. */
export const meansOf = ({ actor, actorKind }: AuditEntry): string =>
  actor === null && actorKind === 'login' ? 'no login set up' : actorKinds[actorKind]

const actorKinds: Record<AuditEntry['actorKind'], string> = {
  login: 'login',
  oidc: 'sign-in',
  key: 'key',
  deploy_key: 'deploy key',
  client_secret: 'client secret',
  system: 'server',
}
