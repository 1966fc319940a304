/** The sign-in of a user at an MCP server: its begin, and its end, with which the call goes on (contract section 27). */
import { createHash, randomBytes } from 'node:crypto'
import type { FetchLike } from '@modelcontextprotocol/client'
import type { Sql } from '../../persistence/postgres/database.ts'
import { clientSecretContext, type Secrets } from '../../persistence/records/access/secrets.ts'
import { type AuditedChange, type AuditOrigin, writeEntries } from '../audit/index.ts'
import { beginSignIn, type ClientSource, finishSignIn, type Granted } from './oauth.ts'
import { createClientRegistry } from './store/clients.ts'
import { storeGrant } from './store/connections.ts'
import {
  decideSignedIn,
  findWaiting,
  type SignInPlace,
  storeSignIn,
  takeSignIn,
  type WaitingSignIn,
} from './store/sign-ins.ts'

export interface SignInOptions {
  sql: Sql
  secrets: Secrets
  fetchFor(url: string): FetchLike
  /** Returns the address under which browsers reach the server. */
  publicUrl(): string
  /** Reads what a server has demanded, as it is kept beside the call. */
  readState(text: string): { scope?: string | undefined; metadata?: string | undefined }
  /** Returns the instance that may begin replies. Null: none may begin here now. */
  owner(): { id: string; epoch: number } | null
  /** Generates a reply that has begun on this instance. */
  generate(replyId: string): void
}

export interface SignIns {
  /** Returns the call that waits for a sign-in. Null: it waits no more. */
  waiting(call: SignInPlace): Promise<WaitingSignIn | null>
  /** Returns where the browser goes to sign in. Rejects where no sign-in is possible now. */
  begin(call: SignInPlace, waiting: WaitingSignIn, browser: string): Promise<string>
  /** Goes on without a new sign-in, where the user has signed in meanwhile. Returns the server's name; null where not. */
  goOn(call: SignInPlace, by: By): Promise<string | null>
  /** Finishes the sign-in of a callback. Returns the server's name; null where there is nothing to finish. Rejects. */
  finish(query: Callback, browser: string, by: By): Promise<string | null>
}

/** The request of the browser, for the audit. */
type By = Pick<AuditOrigin, 'ip' | 'requestId'>

/** The query of a callback. */
export interface Callback {
  state: string
  code: string
  iss: string | undefined
  error: string | undefined
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

export const CALLBACK = '/api/oauth/callback'
export const DOCUMENT = '/api/oauth/client.json'

export function createSignIns(options: SignInOptions): SignIns {
  const { sql, secrets, fetchFor, publicUrl, generate } = options
  const redirectUri = () => `${publicUrl()}${CALLBACK}`
  const registry = createClientRegistry(sql, secrets)
  return {
    waiting: (call) => findWaiting(sql, secrets, call),
    async begin(call, waiting, browser) {
      const state = randomBytes(32).toString('base64url')
      const { url } = waiting
      const { scope, metadata } = waiting.state === null ? {} : options.readState(waiting.state)
      const wishes = { url, scope, metadata, redirectUri: redirectUri() }
      const { location, begun } = await beginSignIn(
        wishes,
        clientSource(options, registry, call, waiting),
        state,
        fetchFor(url),
      )
      const hashes = { stateHash: hashOf(state), browserHash: hashOf(browser) }
      await storeSignIn(sql, secrets, hashes, { ...call, begun })
      return location
    },
    goOn: (call, by) => complete(options, call, null, by),
    async finish({ state, code, iss, error }, browser, by) {
      const hashes = { stateHash: hashOf(state), browserHash: hashOf(browser) }
      const taken = await takeSignIn(sql, secrets, hashes)
      if (taken === null || error !== undefined || code === '') return null
      const { begun, ...call } = taken
      const granted = await finishSignIn(begun, { code, iss, redirectUri: redirectUri() }, fetchFor(begun.url))
      return await complete(options, call, { granted, url: begun.url }, by)
    },
  }

  /** Stores what was granted and has the call go on, in one transaction. Null: the call waits no more. */
  async function complete(
    { owner }: SignInOptions,
    call: SignInPlace,
    obtained: { granted: Granted; url: string } | null,
    by: By,
  ): Promise<string | null> {
    const instance = owner()
    const done = await sql.begin(async (tx) => {
      await tx`select from sessions where id = ${call.sessionId} for no key update`
      // Held against a change of the server, which takes what users have granted.
      await tx`select from mcp_servers where id = ${call.serverId} for share`
      const waiting = await findWaiting(tx, secrets, call)
      if (waiting === null) return null
      const { agentId, serverName } = waiting
      const { user, serverId } = call
      if (obtained === null) {
        if (!waiting.isGranted) return null
      } else {
        if (waiting.url !== obtained.url) return null
        const id = await storeGrant(tx, secrets, { agentId, user, serverId }, obtained.granted)
        const origin = { actor: user, actorKind: 'system' as const, ...by }
        await writeEntries(tx, origin, [entryOf('create', id, serverName, user)])
      }
      return { serverName, replyId: await decideSignedIn(tx, instance ?? { id: null, epoch: null }, call, waiting) }
    })
    if (done?.replyId) generate(done.replyId)
    return done?.serverName ?? null
  }
}

/** Returns the audit's entry of a connection. */
export const entryOf = (action: 'create' | 'delete', id: string, server: string, user: string): AuditedChange => ({
  action,
  kind: 'connection',
  recordId: id,
  recordName: server,
  changes: { user: action === 'create' ? { from: null, to: user } : { from: user, to: null } },
})

function clientSource(
  { secrets, publicUrl }: SignInOptions,
  registry: ReturnType<typeof createClientRegistry>,
  { serverId }: SignInPlace,
  { oauthClientId, sealedClientSecret }: WaitingSignIn,
): ClientSource {
  const secret = sealedClientSecret === null ? null : secrets.open(sealedClientSecret, clientSecretContext(serverId))
  const redirectUri = `${publicUrl()}${CALLBACK}`
  return {
    configured:
      oauthClientId === null ? null : { client_id: oauthClientId, ...(secret !== null && { client_secret: secret }) },
    document: publicUrl().startsWith('https:') ? `${publicUrl()}${DOCUMENT}` : null,
    registered: (issuer, register) => registry.client({ serverId, issuer, redirectUri }, register),
  }
}
