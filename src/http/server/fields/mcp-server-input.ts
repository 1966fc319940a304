/** MCP servers as callers send them, in a request or in an import. */
import { randomUUID } from 'node:crypto'
import { clientSecretContext, type Secrets } from '../../../persistence/records/access/secrets.ts'
import type * as mcpServers from '../../../persistence/records/tools/mcp-servers.ts'
import { hiddenValue } from '../../../persistence/records/tools/secret-headers.ts'
import { serverTemplateProblem } from '../../../templates/header-template.ts'
import { badRequest } from '../http-error.ts'
import { newHeaders, readableHeaders, updatedHeaders } from './header-input.ts'
import { checkWebAddress, originOf } from './web-address.ts'

export const contextOf = (id: string) => `mcp-server:${id}` as const

interface Writing {
  secrets: Pick<Secrets, 'seal' | 'open'>
  /** Returns the address under which browsers reach the server. Null where that is not known. */
  publicUrl(): string | null
}

type McpServerInput = Omit<mcpServers.McpServerFields, 'sendUser' | 'auth' | 'oauthClientId'> & {
  /** A null means the default, false. */
  sendUser?: boolean | null | undefined
  headers?: Readonly<Record<string, string>> | null | undefined
  /** A null means the default, none. */
  auth?: mcpServers.McpServerFields['auth'] | null | undefined
  oauthClientId?: string | null | undefined
  oauthClientSecret?: string | null | undefined
}

/** Returns a server to be stored. Throws 400. */
export function newMcpServer(deps: Writing, given: McpServerInput): mcpServers.NewMcpServer {
  const { secrets } = deps
  const { name, transport, url, sendUser, headers, oauthClientId = null, oauthClientSecret = null } = given
  const auth = given.auth ?? 'none'
  checkWebAddress('url', url)
  checkTemplates({ url, headers: headers ?? {} })
  const id = randomUUID()
  if (oauthClientSecret === hiddenValue) badRequest('oauthClientSecret: there is no stored value to keep')
  const sealedClientSecret = oauthClientSecret && secrets.seal(oauthClientSecret, clientSecretContext(id))
  const sealed = newHeaders(secrets, contextOf(id), headers)
  checkSignIn(deps, { auth, transport, headers: sealed.headers, oauthClientId, sealedClientSecret })
  return {
    ...{ id, name, transport, url, sendUser: sendUser ?? false, auth, oauthClientId, sealedClientSecret },
    ...sealed,
  }
}

type Given<Input> = { [Field in keyof Input]?: Input[Field] | undefined }

/**
 * Returns the change of a stored server: what is given changes, the rest stays. Throws 400, also when it is called with
 * the stored server.
 */
export function mcpServerChanges(deps: Writing, given: Given<McpServerInput>): mcpServers.DecideMcpServer {
  const { secrets } = deps
  const { name, transport, url, sendUser, headers, oauthClientId } = given
  const auth = given.auth === null ? 'none' : given.auth
  if (url !== undefined) checkWebAddress('url', url)
  return (stored) => {
    const moves = url !== undefined && originOf(url) !== originOf(stored.url)
    const sealedHeaders = updatedHeaders(secrets, contextOf(stored.id), headers, stored, moves)
    const kept = readableHeaders(secrets, contextOf(stored.id), sealedHeaders ?? stored)
    checkTemplates({ url: url ?? stored.url, headers: kept })
    const sealedClientSecret = changedClientSecret(deps, given.oauthClientSecret, stored, moves)
    checkSignIn(deps, {
      auth: auth ?? stored.auth,
      transport: transport ?? stored.transport,
      headers: kept,
      oauthClientId: oauthClientId === undefined ? stored.oauthClientId : oauthClientId,
      sealedClientSecret: sealedClientSecret === undefined ? stored.sealedClientSecret : sealedClientSecret,
    })
    const shared = { name, transport, url, sendUser: sendUser === null ? false : sendUser, sealedHeaders }
    return { ...shared, auth, oauthClientId, sealedClientSecret }
  }
}

/** Returns the client secret to be stored. Undefined: the stored one stays. Throws 400. */
function changedClientSecret(
  { secrets }: Writing,
  given: string | null | undefined,
  { id, sealedClientSecret }: mcpServers.StoredMcpServer,
  moves: boolean,
): string | null | undefined {
  if (given === null) return null
  if (given !== undefined && given !== hiddenValue) return secrets.seal(given, clientSecretContext(id))
  if (given === hiddenValue && sealedClientSecret === null)
    badRequest('oauthClientSecret: there is no stored value to keep')
  if (moves && sealedClientSecret !== null)
    badRequest('oauthClientSecret: must be sent again when url moves to another origin')
  return undefined
}

type SignIn = Pick<mcpServers.NewMcpServer, 'auth' | 'transport' | 'headers' | 'oauthClientId' | 'sealedClientSecret'>

/** Throws 400 where users could not sign in at such a server. */
function checkSignIn(
  { publicUrl }: Writing,
  { auth, transport, headers, oauthClientId, sealedClientSecret }: SignIn,
): void {
  if (auth === 'none') {
    if (oauthClientId !== null) badRequest('oauthClientId: needs auth "user"')
    if (sealedClientSecret !== null) badRequest('oauthClientSecret: needs auth "user"')
    return
  }
  if (transport !== 'streamable_http') badRequest('auth: "user" needs the transport streamable_http')
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    badRequest('auth: "user" takes no configured header authorization')
  if (publicUrl() === null)
    badRequest('auth: "user" needs the setting PUBLIC_URL, under which browsers reach the server')
}

/** Throws 400 for a name that stands for nothing. */
function checkTemplates(server: Parameters<typeof serverTemplateProblem>[0]): void {
  const problem = serverTemplateProblem(server)
  if (problem !== null) badRequest(problem)
}
