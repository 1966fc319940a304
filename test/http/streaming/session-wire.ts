/** Frames of sessions as they stand on the wire, and replies that are made of exactly the frames that a test wants. */
import { expect } from 'vitest'
import type { Scene, SseStream } from '../scene.ts'

/** The frames as they stand on the wire, from literals. `head`: id and created of the reply. */
export function wire(
  head: { id: string; created: number },
  first: number,
  deltas: string[],
  reason = 'stop',
  usage = '',
): string[] {
  const start = `{"id":"${head.id}","created":${head.created},"model":"test-model","object":"chat.completion.chunk"`
  const chunks = [
    ...['{"role":"assistant"}', ...deltas.map((text) => `{"content":${JSON.stringify(text)}}`)].map(
      (delta) => `${start},"choices":[{"index":0,"delta":${delta},"finish_reason":null}]}`,
    ),
    `${start},"choices":[{"index":0,"delta":{},"finish_reason":"${reason}"}]}`,
    ...(usage ? [`${start},"choices":[],"usage":${usage}}`] : []),
    '[DONE]',
  ]
  return chunks.map((data, index) => `id: ${first + index}\ndata: ${data}\n\n`)
}

export const headOf = (stream: SseStream): { id: string; created: number } => JSON.parse(stream.frames[0]?.data ?? '{}')

/** A reply of exactly these deltas, a frame each. */
export async function reply(scene: Scene, id: string, deltas: string[], extra: object = {}): Promise<SseStream> {
  const next = scene.byHand()
  const stream = await scene.stream(id, 'x', extra)
  await stream.next()
  const up = await next
  for (const delta of deltas) {
    await up.text(delta)
    await stream.next()
  }
  await up.finish('stop', { prompt_tokens: 2, completion_tokens: 1 }, true)
  await stream.rest()
  return stream
}

/** The bytes of a whole resumed stream. */
export const raw = async (scene: Scene, id: string, lastEventId?: number | string) => {
  const stream = await scene.resume(id, lastEventId)
  const { broken } = await stream.rest()
  expect([stream.status, broken]).toEqual([200, false])
  return stream.raw()
}
