/** MCP servers as callers send them, in a request or in an import. */
import { randomUUID } from 'node:crypto'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import type * as mcpServers from '../../../persistence/records/tools/mcp-servers.ts'
import { newHeaders, updatedHeaders } from './header-input.ts'
import { checkWebAddress, originOf } from './web-address.ts'

export const contextOf = (id: string) => `mcp-server:${id}` as const

interface Writing {
  secrets: Pick<Secrets, 'seal' | 'open'>
}

type McpServerInput = Omit<mcpServers.McpServerFields, 'sendUser'> & {
  /** A null means the default, false. */
  sendUser?: boolean | null | undefined
  headers?: Readonly<Record<string, string>> | null | undefined
}

/** Returns a server to be stored. Throws 400. */
export function newMcpServer({ secrets }: Writing, given: McpServerInput): mcpServers.NewMcpServer {
  const { name, transport, url, sendUser, headers } = given
  checkWebAddress('url', url)
  const id = randomUUID()
  return { id, name, transport, url, sendUser: sendUser ?? false, ...newHeaders(secrets, contextOf(id), headers) }
}

type Given<Input> = { [Field in keyof Input]?: Input[Field] | undefined }

/** Returns the change of a stored server: what is given changes, the rest stays. Throws 400, also when it is called with the stored server. */
export function mcpServerChanges({ secrets }: Writing, given: Given<McpServerInput>): mcpServers.DecideMcpServer {
  const { name, transport, url, sendUser, headers } = given
  if (url !== undefined) checkWebAddress('url', url)
  return (stored) => {
    const moves = url !== undefined && originOf(url) !== originOf(stored.url)
    return {
      name,
      transport,
      url,
      sendUser: sendUser === null ? false : sendUser,
      sealedHeaders: updatedHeaders(secrets, contextOf(stored.id), headers, stored, moves),
    }
  }
}
