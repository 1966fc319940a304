/**
 * The tool path written by hand: two model calls with the official client, one fetch, one call with the official MCP
 * client, in one process. Nothing is stored, checked or guarded. Arguments: URLs of model, HTTP tool, MCP server.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import Fastify from 'fastify'
import OpenAI from 'openai'
import { toolSchemas } from '../tool-schemas.ts'

const [baseURL = '', toolUrl = '', mcpUrl = ''] = process.argv.slice(2)
const openai = new OpenAI({ baseURL, apiKey: 'none' })
const mcp = new Client({ name: 'bench', version: '1' })
await mcp.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)))
const app = Fastify()

const tools = Object.entries(toolSchemas).map(([name, parameters]) => ({
  type: 'function' as const,
  function: { name, parameters },
}))

/** Reads the whole response: which tools to call, with which arguments. */
async function askForCalls(messages: OpenAI.ChatCompletionMessageParam[]) {
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = []
  for await (const { choices } of await openai.chat.completions.create({
    model: 'bench',
    stream: true,
    messages,
    tools,
  })) {
    for (const call of choices[0]?.delta.tool_calls ?? []) {
      const { name = '', arguments: args = '' } = call.function ?? {}
      calls[call.index] ??= { id: call.id ?? '', type: 'function', function: { name, arguments: '' } }
      const known = calls[call.index]
      if (known) known.function.arguments += args
    }
  }
  return calls
}

async function callTool(name: string, args: string): Promise<string> {
  if (name === 'weather') return (await fetch(`${toolUrl}/cities/${JSON.parse(args).city}`)).text()
  return JSON.stringify((await mcp.callTool({ name: 'echo', arguments: JSON.parse(args) })).content)
}

app.post<{ Body: { messages: OpenAI.ChatCompletionMessageParam[] } }>(
  '/v1/chat/completions',
  async (request, reply) => {
    const { messages } = request.body
    const tool_calls = await askForCalls(messages)
    const results = await Promise.all(
      tool_calls.map(async ({ id, function: { name, arguments: args } }) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: await callTool(name, args),
      })),
    )
    const all = [...messages, { role: 'assistant' as const, tool_calls }, ...results]
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunks = await openai.chat.completions.create({ model: 'bench', stream: true, messages: all, tools })
    for await (const chunk of chunks) reply.raw.write(`data: ${JSON.stringify(chunk)}\n\n`)
    reply.raw.end('data: [DONE]\n\n')
    return reply
  },
)

await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.(app.server.address())
process.on('disconnect', () => process.exit(0))
