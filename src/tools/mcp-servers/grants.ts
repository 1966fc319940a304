/** The grants with which calls reach MCP servers that each user signs in at (contract section 27). */
import { hash } from 'node:crypto'
import type { ReplyValues } from '../../templates/placeholders.ts'
import type { McpServer } from '../mcp/mcp.ts'

export interface Grant {
  id: string
  /** The access token. */
  token: string
  /** The scopes that it has. Null: its server did not say. */
  scope: string | null
}

/** The call for which a user signs in. */
export interface SignInOf {
  sessionId: string
  user: string
  serverId: string
  /** The call's key: the id of its reply, and its place there. */
  call: string
}

export interface Grants {
  /**
   * Returns the grant of the session's user for the server; one that is over is renewed first. Null: there is none.
   * Rejects when it cannot be renewed now.
   */
  find(serverId: string, values: ReplyValues | undefined): Promise<Grant | null>
  /** Renews a grant that the server refused, unless that was done meanwhile. Null: its user has to sign in again. */
  renew(grant: Grant): Promise<Grant | null>
  /** Returns the address of the page on which the user begins to sign in. */
  pageFor(signIn: SignInOf): string
}

/** Returns the server as it is reached with a grant. Connections and lists are kept apart for each. */
export function withGrant(server: McpServer, grant: Grant | null): McpServer {
  if (grant === null) return server
  const set = hash('sha256', grant.token, 'base64url')
  return {
    ...server,
    headers: { ...server.headers, authorization: `Bearer ${grant.token}` },
    version: `${server.version} ${set}`,
  }
}
