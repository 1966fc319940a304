/** An MCP server as a session reaches it: with the session's values in its headers. */
import { hash } from 'node:crypto'
import type { MissingServer } from '../../actors/ports/index.ts'
import { fillServerHeaders } from '../../templates/header-template.ts'
import type { ReplyValues } from '../../templates/placeholders.ts'
import type { McpServer } from '../mcp/mcp.ts'

/** Returns the server, or why the session cannot reach it. Connections are kept apart for each set of values. */
export function filledServer(
  server: McpServer,
  values: ReplyValues,
): { server: McpServer } | { reason: MissingServer['reason']; words: string } {
  const filled = fillServerHeaders(server.headers, values)
  if ('missing' in filled) {
    const reason = filled.missing === 'session.user' && values.user === null ? 'no_user' : 'no_value'
    return {
      reason,
      words: `The header ${filled.header} needs the value ${filled.missing}, which is missing or cannot be sent.`,
    }
  }
  const { headers, isFilled } = filled
  if (!isFilled) return { server }
  const set = hash('sha256', JSON.stringify(Object.entries(headers)), 'base64url')
  return { server: { ...server, headers, version: `${server.version} ${set}` } }
}
