/** MCP servers as callers send them, in a request or in an import. */
import { randomUUID } from 'node:crypto'
import type { Secrets } from '../../../persistence/records/access/secrets.ts'
import type * as mcpServers from '../../../persistence/records/tools/mcp-servers.ts'
import { serverTemplateProblem } from '../../../templates/header-template.ts'
import { badRequest } from '../http-error.ts'
import { newHeaders, readableHeaders, updatedHeaders } from './header-input.ts'
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
  checkTemplates({ url, headers: headers ?? {} })
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
    const sealedHeaders = updatedHeaders(secrets, contextOf(stored.id), headers, stored, moves)
    const kept = readableHeaders(secrets, contextOf(stored.id), sealedHeaders ?? stored)
    checkTemplates({ url: url ?? stored.url, headers: kept })
    return { name, transport, url, sendUser: sendUser === null ? false : sendUser, sealedHeaders }
  }
}

/** Throws 400 for a name that stands for nothing. */
function checkTemplates(server: Parameters<typeof serverTemplateProblem>[0]): void {
  const problem = serverTemplateProblem(server)
  if (problem !== null) badRequest(problem)
}
