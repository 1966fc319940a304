/** Reads a stream of server-sent events as a client would, and records every byte. */
import { createParser } from 'eventsource-parser'

export interface SseFrame {
  id: string | undefined
  event: string | undefined
  data: string
}

export interface SseStream {
  status: number
  headers: Headers
  /** All frames so far. */
  frames: SseFrame[]
  /** Returns the raw text so far. */
  raw(): string
  /** Resolves to the next unread frame; null when the stream has ended properly. Rejects if it broke off. */
  next(): Promise<SseFrame | null>
  /** Reads to the end. `broken`: the connection was closed without the end of the body. */
  rest(): Promise<{ frames: SseFrame[]; broken: boolean }>
  /** Drops the connection, like a client that disconnects. */
  leave(): void
}

/** Opens a stream: `POST` with a body, `GET` without. */
export async function openSse(url: string, body?: object, headers: Record<string, string> = {}): Promise<SseStream> {
  const controller = new AbortController()
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: controller.signal,
  })
  const frames: SseFrame[] = []
  let text = ''
  let taken = 0
  const parser = createParser({ onEvent: ({ id, event, data }) => frames.push({ id, event, data }) })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const pull = async (): Promise<boolean> => {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (value !== undefined) {
      text += value
      parser.feed(value)
    }
    return !done
  }
  const next = async (): Promise<SseFrame | null> => {
    while (taken >= frames.length) if (!(await pull())) return null
    taken += 1
    return frames[taken - 1] ?? null
  }
  return {
    status: response.status,
    headers: response.headers,
    frames,
    raw: () => text,
    next,
    async rest() {
      try {
        while (await pull()) {}
        return { frames, broken: false }
      } catch {
        return { frames, broken: true }
      }
    },
    leave: () => controller.abort(),
  }
}

/** Returns the text that a client would show after these frames. */
export const contentOf = (frames: readonly SseFrame[]): string =>
  frames
    .filter(({ data, event }) => event === undefined && data !== '[DONE]')
    .map(({ data }) => JSON.parse(data).choices?.[0]?.delta?.content ?? '')
    .join('')
