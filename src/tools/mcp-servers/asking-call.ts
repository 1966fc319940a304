/** Calls of MCP servers that may ask their user first (contract section 27). */
import { hash } from 'node:crypto'
import type { Again, ToolAnswer } from '../../actors/ports/index.ts'
import type { CallOf, McpAnswer, McpServer } from '../mcp/mcp.ts'
import type { Once } from '../offered.ts'
import type { RequestStates, ToolboxWorld } from '../toolbox.ts'

/** Returns a hash of the server's address: another one gets no answers. */
export const addressOf = ({ transport, url }: McpServer): string => hash('sha256', `${transport} ${url}`, 'base64url')

export const moved =
  'The call was not made: the address of its MCP server has changed since it asked the user, and the answers are meant for the one that asked.'

export interface AskingCall {
  server: McpServer
  name: string
  args: Record<string, unknown>
  once: Once
}

/** Makes a call, or sends it again with the answers to what its server asked. */
export async function makeAskingCall(
  { mcp, values, states, depth }: Pick<ToolboxWorld, 'mcp' | 'values' | 'states' | 'depth'>,
  { server, name, args, once: { signal, key, again } }: AskingCall,
): Promise<ToolAnswer & Pick<McpAnswer, 'challenge'>> {
  if (again && again.of !== addressOf(server)) return { ok: false, content: moved }
  const mayAsk = states !== undefined && values?.sessionId != null
  const of: CallOf = { key, values, depth, mayAsk, ...(again && { again: opened(again, states) }) }
  const { asks, ...answer } = await mcp.call(server, name, args, signal, of)
  if (asks === undefined || states === undefined) return answer
  const { questions, state } = asks
  const sealed = state !== undefined && { state: states.seal(state) }
  return { ...answer, asked: { server: server.name, questions, of: addressOf(server), ...sealed } }
}

const opened = (again: Again, states: RequestStates | undefined): Again => ({
  ...again,
  state: again.state === undefined ? undefined : states?.open(again.state),
})
