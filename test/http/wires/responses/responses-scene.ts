/** Requests of the Responses API, raw and through the official client, over the whole product. */
import OpenAI from 'openai'
import { openSse, type SseStream } from '../../../support/streams/sse.ts'
import { openScene, type SceneOptions } from '../../scene.ts'

/** An event, as it stood on the wire. */
export interface WireEvent {
  type: string
  sequence_number: number
  // biome-ignore lint/suspicious/noExplicitAny: what the server sends is what the tests look at
  [field: string]: any
}

export async function openResponsesScene(options: SceneOptions = {}) {
  const scene = await openScene(options)
  const responses = `${scene.agent}/deploy/responses`
  const conversations = `${scene.agent}/deploy/conversations`
  return {
    ...scene,
    responses,
    conversations,
    client: new OpenAI({ baseURL: `${scene.app.url}${scene.agent}/deploy`, apiKey: 'any', maxRetries: 0 }),
    create: (body: object, headers: Record<string, string> = {}) => scene.call('POST', responses, body, headers),
    stream: (body: object): Promise<SseStream> => openSse(`${scene.app.url}${responses}`, { stream: true, ...body }),
    follow: (id: string, query = '', headers: Record<string, string> = {}): Promise<SseStream> =>
      openSse(`${scene.app.url}${responses}/${id}?stream=true${query}`, undefined, headers),
  }
}

export const eventsOf = ({ frames }: Pick<SseStream, 'frames'>): WireEvent[] =>
  frames.map(({ data }) => JSON.parse(data))

/** Reads to the end. Rejects when the stream broke off. */
export async function wholeStream(stream: SseStream): Promise<WireEvent[]> {
  const { broken } = await stream.rest()
  if (broken) throw new Error(`the stream broke off after ${stream.raw()}`)
  return eventsOf(stream)
}

/** The session of a conversation's id. */
export const sessionOf = (conversation: string): string =>
  conversation.replace(/^conv_/, '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
