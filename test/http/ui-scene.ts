/** Requests as the AI SDK and AG-UI send them, and what is read of their streams. */
import { uiMessageChunkSchema } from 'ai'
import { openSse, type SseStream } from '../support/streams/sse.ts'
import type { Scene } from './scene.ts'

/** A part or event, as it stood on the wire. */
export interface WirePart {
  type: string
  [field: string]: unknown
}

export const userMessage = (text: string, id = 'from-the-page') => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
})

export const uiScene = (scene: Pick<Scene, 'app' | 'agent' | 'call'>) => {
  const aiSdk = `${scene.agent}/deploy/ai-sdk`
  const agUi = `${scene.agent}/deploy/ag-ui`
  const chatBody = (id: string, text: string, extra: object = {}) => ({
    id,
    messages: [userMessage(text)],
    trigger: 'submit-message',
    ...extra,
  })
  const runBody = (threadId: string, runId: string, text: string, extra: object = {}) => ({
    threadId,
    runId,
    state: {},
    messages: [{ id: 'from-the-page', role: 'user', content: text }],
    tools: [],
    context: [],
    forwardedProps: {},
    ...extra,
  })
  return {
    aiSdk,
    agUi,
    chatBody,
    runBody,
    chat: (id: string, text: string, extra: object = {}, headers: Record<string, string> = {}): Promise<SseStream> =>
      openSse(`${scene.app.url}${aiSdk}`, chatBody(id, text, extra), headers),
    follow: (id: string): Promise<SseStream> => openSse(`${scene.app.url}${aiSdk}/${id}/stream`),
    stop: (id: string) => scene.call('DELETE', `${aiSdk}/${id}/stream`),
    // biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the tests look at
    async uiMessages(id: string): Promise<any[]> {
      return (await scene.call('GET', `${aiSdk}/${id}/messages`)).json.messages
    },
    run: (threadId: string, runId: string, text: string, extra: object = {}): Promise<SseStream> =>
      openSse(`${scene.app.url}${agUi}`, runBody(threadId, runId, text, extra)),
  }
}

/** The stream's data; `[DONE]` as `{type: '[DONE]'}`. */
const partsOf = ({ frames }: Pick<SseStream, 'frames'>): WirePart[] =>
  frames.map(({ data }) => (data === '[DONE]' ? { type: data } : JSON.parse(data)))

export async function rest(stream: SseStream): Promise<WirePart[]> {
  const { broken } = await stream.rest()
  if (broken) throw new Error(`the stream broke off after ${stream.raw()}`)
  return partsOf(stream)
}

/** The parts that the SDK's own schema refuses. */
export async function refusedBySdk(parts: readonly WirePart[]): Promise<WirePart[]> {
  const { validate } = uiMessageChunkSchema()
  const refused: WirePart[] = []
  for (const part of parts) {
    if (part.type === '[DONE]') continue
    const result = await validate?.(part)
    if (!result?.success) refused.push(part)
  }
  return refused
}
