/** Adapts the model's port, which pushes events, to generators that tests write or read. */
import type { Model, ModelEvent, ModelRequest } from '../../../src/actors/ports/index.ts'

type Tell = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>

/** Returns a model that emits what the generator yields, one event at a time. */
export const told =
  (tell: Tell): Model['stream'] =>
  async (request, signal, take) => {
    for await (const event of tell(request, signal)) {
      if (signal.aborted) return
      await take([event])
    }
  }

/** Returns a model's events, as fast as they are read; ending the iteration aborts the call. */
export async function* heard(
  { stream }: Pick<Model, 'stream'>,
  request: ModelRequest,
  signal = new AbortController().signal,
): AsyncGenerator<ModelEvent, void> {
  const left = new AbortController()
  const queue: ModelEvent[] = []
  let wake = () => {}
  let room = () => {}
  let over = false
  const running = stream(request, AbortSignal.any([signal, left.signal]), (events) => {
    queue.push(...events)
    wake()
    return new Promise((resolve) => {
      room = resolve
    })
  }).finally(() => {
    over = true
    wake()
  })
  running.catch(() => {})
  try {
    for (;;) {
      const event = queue.shift()
      if (event) yield event
      else if (over) return await running
      else {
        room()
        if (queue.length > 0 || over) continue
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    left.abort()
    room()
  }
}
