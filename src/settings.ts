/** The only list of all settings; docs/settings.md is generated from it (contract section 1). */
import { checkTogether, SettingsError } from './settings-checks.ts'
import {
  bearerKey,
  cacheUrl,
  credentials,
  databaseUrl,
  hostName,
  issuerUrl,
  keyValues,
  list,
  listenHost,
  listOf,
  oidcScopes,
  oneOf,
  optional,
  outboundRule,
  proxyUrl,
  publicAddress,
  roleRules,
  type Setting,
  setting,
  shared,
  text,
  trustProxy,
  urlOf,
  wholeNumber,
} from './settings-values.ts'

export type { Credential, OutboundRule, Setting } from './settings-values.ts'

const port = wholeNumber(0, 65_535)
const seconds = wholeNumber(1, 86_400)
const days = wholeNumber(1, 36_500)

export const table = {
  port: setting('PORT', '8080', 'One port for API and UI.', port),
  host: setting('HOST', '127.0.0.1', 'Address to listen on. The container image sets `0.0.0.0`.', listenHost),
  databaseUrl: optional(
    'DATABASE_URL',
    'PostgreSQL 15 or newer. Unset: an embedded PostgreSQL under `DATA_DIR`, started and stopped with the process. Transaction poolers work.',
    databaseUrl,
  ),
  dataDir: setting(
    'DATA_DIR',
    './data',
    'Embedded database and the generated secret key. Unset, and started as root in a folder that the OS user of the embedded database cannot enter: `/var/lib/greenroom`, unless `./data` exists.',
    text,
  ),
  secretKeys: optional(
    'SECRET_KEY',
    'Encrypts stored secrets. Several, separated by commas: the first encrypts, all decrypt; rotate by `old,new`, then `new,old`, then `new`. Unset: generated once into `DATA_DIR/secret.key`. Required when `CACHE_PROVIDER` is set, and when `DATABASE_URL` names a database that already holds data while no `secret.key` exists.',
    listOf(text),
  ),
  publicApiKey: optional('PUBLIC_API_KEY', 'Bearer key of the deploy API. Unset: open.', bearerKey),
  publicApiKeyPrevious: optional('PUBLIC_API_KEY_PREVIOUS', 'Accepted too, for rotation.', bearerKey),
  authCredentials: optional(
    'AUTH_CREDENTIALS',
    '`username:password`, several separated by commas. Passwords may hold colons, not commas; a password may be a hash printed by `npm run hash-password`. Unset: management needs no login.',
    credentials,
  ),
  trustProxy: optional(
    'TRUST_PROXY',
    'Proxies whose `X-Forwarded-*` headers are trusted: a number of hops, or addresses and CIDR ranges. Unset: none.',
    trustProxy,
  ),
  allowedHosts: list(
    'ALLOWED_HOSTS',
    'Host names that requests may use while the server listens only on loopback and needs no credential; IP addresses and `localhost` are always allowed.',
    hostName,
  ),
  publicUrl: optional(
    'PUBLIC_URL',
    'Address under which browsers reach the server: http or https, host, optional port and path. Unset: `http://127.0.0.1:<PORT>` where `HOST` is loopback.',
    publicAddress,
  ),
  oidcIssuer: optional(
    'OIDC_ISSUER',
    'Switches the sign-in by OpenID Connect on: the https URL of the identity provider. Needs `OIDC_CLIENT_ID`, `OIDC_ROLES` and `PUBLIC_URL`.',
    issuerUrl,
  ),
  oidcClientId: optional('OIDC_CLIENT_ID', 'Greenroom’s client id at the identity provider.', text),
  oidcClientSecret: optional('OIDC_CLIENT_SECRET', 'Its secret. Unset: a public client.', text),
  oidcRoles: optional(
    'OIDC_ROLES',
    'Which claim gives which role: `<claim>: <value>=<role>, …`, such as `groups: chat-admins=admin, chat-writers=editor, *=viewer`.',
    roleRules,
  ),
  oidcScopes: setting(
    'OIDC_SCOPES',
    'openid profile email',
    'Scopes that are asked for; `openid` is among them.',
    oidcScopes,
  ),
  oidcRecheckS: setting(
    'OIDC_RECHECK_S',
    '300',
    'Time after which the identity provider is asked again whether a person may still sign in, where it gives a refresh token.',
    wholeNumber(1, 3600),
  ),
  cacheProvider: optional('CACHE_PROVIDER', '`redis` or `valkey`. Unset: PostgreSQL alone.', oneOf('redis', 'valkey')),
  cacheUrl: setting(
    'CACHE_URL',
    'redis://127.0.0.1:6379',
    'Address of Redis or Valkey: `redis://user:password@host:6379/0`; `redis+sentinel://host:26379,host:26379/name`; `redis+cluster://host:6379,host:6379`. `rediss` for TLS; `valkey` and `valkeys` mean the same.',
    cacheUrl,
  ),
  outboundPolicy: setting(
    'OUTBOUND_POLICY',
    'standard',
    '`strict`: providers, HTTP tools and MCP servers may have public addresses only.',
    oneOf('standard', 'strict'),
  ),
  outboundAllow: list(
    'OUTBOUND_ALLOW',
    'Hosts, `host:port` and CIDR ranges that outbound calls may reach.',
    outboundRule,
  ),
  httpsProxy: shared(
    'HTTPS_PROXY',
    'Proxy of outgoing requests to `https` addresses: `http://user:password@host:port`, or `https://…`. Also in lower case, like the next two. Not for PostgreSQL, Redis and exporters.',
    proxyUrl,
  ),
  httpProxy: shared('HTTP_PROXY', 'The same for `http` addresses.', proxyUrl),
  noProxy: shared(
    'NO_PROXY',
    'What is called without a proxy, separated by commas: hosts and suffixes, with a port or without, addresses, CIDR ranges, `*`.',
    text,
  ),
  sessionTitles: setting(
    'SESSION_TITLES',
    'derived',
    "`derived`: from the first user message. `model`: a background job asks the agent's model.",
    oneOf('derived', 'model'),
  ),
  providerRetries: setting(
    'PROVIDER_RETRIES',
    '2',
    'Number of retries of a provider call that fails before its first text or tool call.',
    wholeNumber(0, 10),
  ),
  generationTimeoutS: setting('GENERATION_TIMEOUT_S', '600', 'Longest duration of a reply.', seconds),
  providerIdleTimeoutS: setting(
    'PROVIDER_IDLE_TIMEOUT_S',
    '300',
    'Longest time between two provider events, including the wait for the first.',
    seconds,
  ),
  ownerLeaseMs: setting(
    'OWNER_LEASE_MS',
    '6000',
    'Time without a sign of life after which the running replies of an instance are declared lost.',
    wholeNumber(300, 600_000),
  ),
  continueWithinS: setting(
    'CONTINUE_WITHIN_S',
    '600',
    'Time after its last stored part in which a reply of an agent with `onLoss: continue` may still be taken over.',
    wholeNumber(0, 86_400),
  ),
  maxRunningReplies: setting(
    'MAX_RUNNING_REPLIES',
    '2000',
    'Replies that one instance generates at a time; beyond it 503 with `Retry-After`.',
    wholeNumber(1, 1_000_000),
  ),
  historyMaxTokens: setting(
    'HISTORY_MAX_TOKENS',
    '100000',
    'Estimated tokens. Of a longer history, the oldest whole turns are not sent.',
    wholeNumber(1, 100_000_000),
  ),
  drainTimeoutS: setting(
    'DRAIN_TIMEOUT_S',
    '30',
    'Time after SIGTERM in which running replies may finish before they end as `shutdown`.',
    wholeNumber(0, 86_400),
  ),
  maxBodyBytes: setting('MAX_BODY_BYTES', '4194304', 'Larger request bodies get 413.', wholeNumber(1024, 2 ** 30)),
  maxFileBytes: setting(
    'MAX_FILE_BYTES',
    '67108864',
    'Larger files that are uploaded get 413.',
    wholeNumber(1024, 512 * 2 ** 20),
  ),
  maxUserFileBytes: setting(
    'MAX_USER_FILE_BYTES',
    '1073741824',
    'Limit of the files of a user with an agent; an upload beyond it gets 413.',
    wholeNumber(1, 2 ** 50),
  ),
  maxSessionBytes: setting(
    'MAX_SESSION_BYTES',
    '268435456',
    'Limit of what one session holds: texts, parts, metadata, and what requests bring besides; a message, history, fork or metadata beyond it gets 413.',
    wholeNumber(1, 2 ** 50),
  ),
  maxUserBytes: optional(
    'MAX_USER_BYTES',
    'The same limit for all sessions of a user with an agent. Unset: no limit.',
    wholeNumber(1, 2 ** 50),
  ),
  maxUserSessions: setting(
    'MAX_USER_SESSIONS',
    '10000',
    'Sessions that a user may have with an agent, and conversations of no agent that a key may have; one more gets 429.',
    wholeNumber(1, 1_000_000),
  ),
  sessionRetentionDays: optional('SESSION_RETENTION_DAYS', 'Sessions idle for longer are removed. Unset: never.', days),
  auditRetentionDays: setting('AUDIT_RETENTION_DAYS', '365', 'Entries of the audit are removed after this.', days),
  traceRetentionDays: setting('TRACE_RETENTION_DAYS', '30', 'Recorded transitions are removed after this.', days),
  traceRequests: setting(
    'TRACE_REQUESTS',
    'on',
    '`on`: requests to models are stored for as long as transitions. `off`: they are not stored.',
    oneOf('on', 'off'),
  ),
  workers: setting(
    'WORKERS',
    '1',
    'Processes on the one port, each a separate instance; more than one needs `DATABASE_URL`.',
    wholeNumber(1, 256),
  ),
  otelEndpoint: optional('OTEL_EXPORTER_OTLP_ENDPOINT', 'Traces, when set.', urlOf('http', 'https')),
  otelServiceName: optional('OTEL_SERVICE_NAME', '`service.name` of the traces. Unset: `greenroom`.', text),
  otelResourceAttributes: optional(
    'OTEL_RESOURCE_ATTRIBUTES',
    'Attributes of the service in traces: `key=value`, several separated by commas, values percent-encoded.',
    keyValues,
  ),
  metricsPort: optional('METRICS_PORT', 'Prometheus metrics on a separate port, on `HOST`. Unset: none.', port),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  seedDemo: setting(
    'SEED_DEMO',
    'auto',
    '`auto`: the first start on an empty embedded database creates a demo provider, prompt and agent. `off`: never.',
    oneOf('auto', 'off'),
  ),
} as const satisfies Record<string, Setting<unknown>>

export type Settings = { [K in keyof typeof table]: (typeof table)[K] extends Setting<infer T> ? T : never }

/** Throws SettingsError. An empty value counts as unset. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const entries = Object.entries<Setting<unknown>>(table).map(([key, row]) => [
    key,
    readOne(row, givenFor(row, environment)),
  ])
  const settings = Object.fromEntries(entries) as Settings // one entry for each row, parsed by that row
  checkTogether(settings, (name) => (environment[name] ?? '').trim() !== '')
  return settings
}

function givenFor(
  { name, alsoLowerCase }: Setting<unknown>,
  environment: Readonly<Record<string, string | undefined>>,
) {
  const lower = alsoLowerCase ? environment[name.toLowerCase()] : undefined
  return lower?.trim() ? lower : environment[name]
}

function readOne({ name, default: defaultValue, read }: Setting<unknown>, given: string | undefined): unknown {
  const value = given === undefined || given.trim() === '' ? defaultValue : given
  if (value === null) return null
  if (value === '') return []
  try {
    return read(value)
  } catch (error) {
    throw new SettingsError(`${name}: ${error instanceof Error ? error.message : String(error)}.`)
  }
}
