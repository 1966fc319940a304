/** The chat-completions API in front of a model, as written in an afternoon. */
import Fastify from 'fastify'
import OpenAI from 'openai'

const openai = new OpenAI({ baseURL: process.argv[2] ?? '', apiKey: 'none' })
const app = Fastify()

app.post<{ Body: OpenAI.ChatCompletionCreateParams }>('/v1/chat/completions', async (request, reply) => {
  const { stream, ...body } = request.body
  if (!stream) return openai.chat.completions.create({ ...body, stream: false })
  const controller = new AbortController()
  reply.raw.on('close', () => controller.abort())
  const chunks = await openai.chat.completions.create({ ...body, stream: true }, { signal: controller.signal })
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
  for await (const chunk of chunks) reply.raw.write(`data: ${JSON.stringify(chunk)}\n\n`)
  reply.raw.end('data: [DONE]\n\n')
  return reply
})

await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.(app.server.address())
process.on('disconnect', () => process.exit(0))
