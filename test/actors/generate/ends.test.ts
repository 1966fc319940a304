/** The end of a generation by its time, and after it was stopped. */
import { expect, test, vi } from 'vitest'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import type { GenerateOptions } from '../../../src/actors/generate/running.ts'
import type { Model, ModelRequest } from '../../../src/actors/ports/index.ts'
import type { ReplyEvent } from '../../../src/actors/reply/reply-event.ts'
import { verifies } from '../../verifies.ts'
import { never, request, say, script } from './generation-scene.ts'

verifies('contract-1.timeouts', 'the time of the whole reply runs while its history is summarised', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const compaction: NonNullable<GenerateOptions['compaction']> = () => ({
      told: () => null,
      isDue: () => false,
      async run() {
        await vi.advanceTimersByTimeAsync(40_000)
        return 'compacted'
      },
    })
    const openToolbox = async () => ({ tools: [], call: async () => ({ ok: true, content: '' }) })
    const options = { replyId: 'r', model: script(['hang']), openToolbox, timeoutMs: 60_000, compaction }
    const generation = createGeneration(request, options)
    expect(await generation.compact(never)).toBe('compacted')
    const ended = vi.fn()
    void generation.run(never, () => undefined).then(ended)
    await vi.advanceTimersByTimeAsync(19_999)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(ended.mock.calls).toMatchObject([[{ type: 'failed', error: { code: 'provider_timeout' } }]])
  } finally {
    vi.useRealTimers()
  }
})

/** Runs a generation that is stopped after its first text, and resolves to what was taken of it. */
async function takenUntilStopped(
  changes: Partial<typeof request & Pick<ModelRequest, 'fields'>>,
): Promise<ReplyEvent[]> {
  const stop = new AbortController()
  const model: Model = {
    countTokens: async (texts) => texts.map(() => 0),
    async stream(_request, _signal, take) {
      take([say('{"first":1}')])
      stop.abort()
      take([say('second')])
    },
  }
  const taken: ReplyEvent[] = []
  const openToolbox = async () => ({
    tools: [{ name: 'tool', description: 'd', inputSchema: { type: 'object' } }],
    call: async () => ({ ok: true, content: '' }),
  })
  const options = { replyId: 'r', model, openToolbox, timeoutMs: 60_000 }
  const generation = createGeneration({ ...request, ...changes }, options)
  await generation
    .run(stop.signal, (events) => {
      taken.push(...events)
      return undefined
    })
    .catch(() => {})
  return taken
}

test('text that comes after a stop is not taken', async () => {
  expect(await takenUntilStopped({})).toEqual([{ type: 'text', text: '{"first":1}' }])
})

verifies('contract-35.last-turn', 'a text that was held back is not shown once the reply was stopped', async () => {
  expect(await takenUntilStopped({ fields: { responseFormat: { type: 'json_object' } } })).toEqual([])
})
