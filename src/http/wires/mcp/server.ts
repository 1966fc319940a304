/** The MCP server of one request: nothing of it outlives the answer (contract section 30). */
import { readFile } from 'node:fs/promises'
import {
  createMcpHandler,
  type McpHttpHandler,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { AskDependencies, AskExchange } from './ask.ts'
import { answerSchema, askSchema } from './ask-input.ts'
import { type CallOfAsk, callAsk } from './call-ask.ts'

const TOOL = 'ask'
const HEARTBEAT_MS = 15_000

let reading: Promise<string> | null = null

async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../../../../package.json', import.meta.url), 'utf8')
  return String(Object(JSON.parse(text)).version)
}

/** Returns the handler of one request. */
export async function openServer(
  deps: AskDependencies,
  exchange: AskExchange,
  agentName: string,
): Promise<Pick<McpHttpHandler, 'fetch'>> {
  reading ??= readVersion()
  const version = await reading
  return createMcpHandler(({ era }) => serverOf(deps, exchange, { agentName, version, era }), {
    keepAliveMs: HEARTBEAT_MS,
    responseMode: 'sse',
  })
}

interface Served {
  agentName: string
  version: string
  era: McpRequestContext['era']
}

function serverOf(deps: AskDependencies, exchange: AskExchange, { agentName, version, era }: Served): Server {
  const server = new Server({ name: 'greenroom', title: agentName, version }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({
    tools: [
      {
        name: TOOL,
        title: agentName,
        description: `Asks the agent ${agentName} and returns its answer.`,
        inputSchema: askSchema,
        outputSchema: answerSchema,
      },
    ],
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    if (params.name !== TOOL) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${JSON.stringify(params.name)}.`)
    }
    return await callAsk(deps, exchange, {
      args: params.arguments,
      meta: context.mcpReq._meta ?? {},
      requestId: context.mcpReq.id,
      closingCancels: era === 'modern',
      tell: progressOf(context),
    })
  })
  return server
}

/** Returns null where the client did not ask for progress. */
function progressOf({ mcpReq }: ServerContext): CallOfAsk['tell'] {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return null
  return (progress) => {
    // Not awaited: the client may have left.
    mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } }).catch(() => {})
  }
}
