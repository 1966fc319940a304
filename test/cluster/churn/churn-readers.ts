/** Readers that come back by id, as any client does, and note what they miss. */
import { setTimeout as pause } from 'node:timers/promises'
import { newSession } from '../../support/programs/product.ts'
import { contentOf, openSse, type SseFrame, type SseStream } from '../../support/streams/sse.ts'

export interface Read {
  name: string
  session: string
  begunAt: number
  frames: SseFrame[]
  text: string
  /** The code of its error. Null when it ended well. */
  error: string | null
  /** Ids that came twice, or in the wrong order. */
  disorder: number
  /** The longest time between two frames: when it began (ms since 1970), and behind how many characters. */
  silence: { ms: number; from: number; position: number }
  /** Connections behind the first one. */
  resumed: number
}

const RETRY_MS = 100

/** Sends one message and reads its reply to the end, over as many connections as it takes. */
export async function readReply(balancer: string, agent: string, name: string): Promise<Read> {
  const session = await again(() => newSession(balancer, agent))
  const begunAt = performance.now()
  const none = { frames: [], text: '', error: null, disorder: 0, silence: { ms: 0, from: 0, position: 0 }, resumed: -1 }
  const read: Read = { name, session, begunAt, ...none }
  let newest = begunAt
  const take = (frame: SseFrame) => {
    const now = performance.now()
    const ms = now - newest
    if (read.frames.length > 0 && ms > read.silence.ms) {
      read.silence = { ms, from: Date.now() - ms, position: contentOf(read.frames).length }
    }
    newest = now
    if (frame.data !== '[DONE]') read.error ??= Object(JSON.parse(frame.data)).error?.code ?? null
    if (Number(frame.id) !== read.frames.length + 1) read.disorder += 1
    read.frames.push(frame)
  }
  while (read.frames.at(-1)?.data !== '[DONE]' && read.error === null) {
    const stream = await again(() => open(balancer, read))
    read.resumed += 1
    await takeAll(stream, take)
  }
  read.text = contentOf(read.frames)
  return read
}

/** The first connection sends the message; every retry of it joins its reply. */
async function open(balancer: string, { session, name, frames }: Read): Promise<SseStream> {
  const last = frames.at(-1)?.id
  const url = `${balancer}${session}/chat/completions`
  const body = { messages: [{ role: 'user', content: name }], stream: true }
  const stream =
    last === undefined
      ? await openSse(url, body, { 'idempotency-key': name })
      : await openSse(`${url}/stream`, undefined, { 'last-event-id': last })
  if (stream.status !== 200) throw new Error(`${stream.status}`)
  return stream
}

async function takeAll(stream: SseStream, take: (frame: SseFrame) => void): Promise<void> {
  try {
    for (let frame = await stream.next(); frame !== null; frame = await stream.next()) take(frame)
  } catch {
    // It broke off: the next connection goes on.
  }
}

async function again<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch {
      await pause(RETRY_MS)
    }
  }
}
