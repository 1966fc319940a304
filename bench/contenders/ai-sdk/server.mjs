/** The AI SDK behind node:http: POST /chat streams UI messages, or answers JSON; GET /chat/ID/stream resumes. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  convertToModelMessages,
  generateId,
  generateText,
  pipeUIMessageStreamToResponse,
  streamText,
  toUIMessageStream,
  UI_MESSAGE_STREAM_HEADERS,
} from 'ai'
import { createResumableStreamContext } from 'resumable-stream'

const { UPSTREAM_URL: baseURL, REDIS_URL, PORT } = process.env
const model = createOpenAICompatible({ name: 'bench', baseURL, apiKey: 'none' }).chatModel('bench')
/** One for the process: a context opens two connections. */
const resumable = REDIS_URL === undefined ? null : createResumableStreamContext({ waitUntil: null })
/** The "chat store" that its guide leaves to the user: in memory, the cheapest, and limited to the newest thousand. */
const chats = new Map()

function saveChat(id, chat) {
  chats.set(id, { ...chats.get(id), ...chat })
  if (chats.size > 1000) chats.delete(chats.keys().next().value)
}

async function bodyOf(request) {
  const parts = []
  for await (const part of request) parts.push(part)
  return JSON.parse(Buffer.concat(parts).toString())
}

async function answer(request, response) {
  const { id, message, stream } = await bodyOf(request)
  const messages = [...(chats.get(id)?.messages ?? []), message]
  const prompt = await convertToModelMessages(messages)
  if (!stream) {
    const { text, usage } = await generateText({ model, messages: prompt })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ text, usage }))
    return
  }
  if (resumable) saveChat(id, { messages, activeStreamId: null })
  const { stream: parts } = streamText({ model, messages: prompt })
  await pipeUIMessageStreamToResponse({
    response,
    stream: toUIMessageStream({
      stream: parts,
      originalMessages: messages,
      generateMessageId: generateId,
      onEnd: ({ messages }) => void (resumable && saveChat(id, { messages, activeStreamId: null })),
    }),
    ...(resumable && {
      async consumeSseStream({ stream }) {
        const streamId = generateId()
        await resumable.createNewResumableStream(streamId, () => stream)
        saveChat(id, { activeStreamId: streamId })
      },
    }),
  })
}

async function resume(id, response) {
  const streamId = chats.get(id)?.activeStreamId
  const stream = streamId ? await resumable?.resumeExistingStream(streamId) : null
  response.writeHead(stream ? 200 : 204, UI_MESSAGE_STREAM_HEADERS)
  for await (const text of stream ?? []) if (!response.write(text)) await once(response, 'drain')
  response.end()
}

const server = createServer((request, response) => {
  const chat = /^\/chat\/([^/]+)\/stream$/.exec(request.url)?.[1]
  const done = request.method === 'POST' ? answer(request, response) : resume(chat, response)
  done.catch((error) => {
    console.error(error)
    response.destroy()
  })
})
server.listen(Number(PORT), '127.0.0.1')
