/**
 * The hand-written server with two statements and two commits a reply, the least that a reply costs that is stored before it is
 * shown: the question before the model is asked, and the answer, of a stream its first chunk, before the client sees it.
 */
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import OpenAI from 'openai'
import { connect } from '../../src/persistence/postgres/database.ts'

const [, , upstream = '', database = ''] = process.argv
const openai = new OpenAI({ baseURL: upstream, apiKey: 'none' })
const sql = connect(database, { name: 'by hand', max: 2, timeoutMs: 0 })
const app = Fastify()
await sql`create table messages (id uuid primary key, role text not null, content text not null)`

interface Write {
  role: 'user' | 'assistant'
  content: string
  stored: () => void
}

/** Makes a writer of messages. Those that gather while a statement runs are one statement and one commit. */
function createWriter() {
  let waiting: Write[] = []
  let isWriting = false
  async function write(): Promise<void> {
    isWriting = true
    for (let some = waiting; some.length > 0; some = waiting) {
      waiting = []
      await sql`
        insert into messages (id, role, content)
        select * from unnest(${some.map(() => randomUUID())}::uuid[], ${some.map(({ role }) => role)}::text[],
                             ${some.map(({ content }) => content)}::text[])`
      for (const { stored } of some) stored()
    }
    isWriting = false
  }
  return (role: Write['role'], content: string) =>
    new Promise<void>((stored) => {
      waiting.push({ role, content, stored })
      if (!isWriting) void write()
    })
}

const storeQuestion = createWriter()
const storeAnswer = createWriter()

app.post<{ Body: OpenAI.ChatCompletionCreateParams }>('/v1/chat/completions', async (request, reply) => {
  const { stream, ...body } = request.body
  await storeQuestion('user', `${body.messages.at(-1)?.content}`)
  if (!stream) {
    const answer = await openai.chat.completions.create({ ...body, stream: false })
    await storeAnswer('assistant', answer.choices[0]?.message.content ?? '')
    return answer
  }
  const chunks = await openai.chat.completions.create({ ...body, stream: true })
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
  let isStored = false
  for await (const chunk of chunks) {
    const text = chunk.choices[0]?.delta.content ?? ''
    if (!isStored && text !== '') {
      await storeAnswer('assistant', text)
      isStored = true
    }
    reply.raw.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  reply.raw.end('data: [DONE]\n\n')
  return reply
})

await app.listen({ port: 0, host: '127.0.0.1' })
process.send?.(app.server.address())
process.on('disconnect', () => process.exit(0))
