/** Clients that were registered dynamically: once for each server and issuer, over all instances. Encrypted. */
import { randomUUID } from 'node:crypto'
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client'
import Type from 'typebox'
import { createShared } from '../../../async/one-at-a-time.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import { decoder } from '../../../persistence/stored-json.ts'
import { readClient } from '../oauth.ts'

const readStored = decoder('A client', Type.Object({ redirectUri: Type.String(), client: Type.Unknown() }))

const contextOf = (id: string): string => `mcp-client:${id}`

interface Registering {
  serverId: string
  issuer: string
  redirectUri: string
}

type Client = OAuthClientInformationMixed
type Sealing = Pick<Secrets, 'seal' | 'open'>

/**
 * Makes the registry of clients. `client` returns the registered one, or the one that `register` makes. Others that need it
 * meanwhile wait: on other instances for the database's lock, here for its promise, so that only one holds a connection.
 */
export function createClientRegistry(sql: Sql, secrets: Sealing) {
  const share = createShared<Client>()
  return {
    client: (of: Registering, register: () => Promise<Client>): Promise<Client> =>
      share(JSON.stringify([of.serverId, of.issuer, of.redirectUri]), () => registered(sql, secrets, of, register)),
  }
}

const registered = (
  sql: Sql,
  secrets: Sealing,
  { serverId, issuer, redirectUri }: Registering,
  register: () => Promise<Client>,
): Promise<Client> =>
  sql.begin(async (tx) => {
    await tx`select set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true),
                    set_config('idle_in_transaction_session_timeout', '0', true)`
    await tx`select pg_advisory_xact_lock(hashtextextended(${`mcp client ${serverId} ${issuer}`}, 0))`
    const [row] = await tx<{ id: string; sealed: string }[]>`
      select id, sealed from mcp_clients where mcp_server_id = ${serverId} and issuer = ${issuer}`
    if (row !== undefined) {
      const stored = readStored(JSON.parse(secrets.open(row.sealed, contextOf(row.id))))
      if (stored.redirectUri === redirectUri) return readClient(stored.client)
      await tx`delete from mcp_clients where id = ${row.id}`
    }
    const client = await register()
    const id = randomUUID()
    const sealed = secrets.seal(JSON.stringify({ redirectUri, client }), contextOf(id))
    await tx`insert into mcp_clients (id, mcp_server_id, issuer, sealed) values (${id}, ${serverId}, ${issuer}, ${sealed})`
    return client
  })
