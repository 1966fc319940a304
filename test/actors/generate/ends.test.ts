/** The end of a generation by its time, and after it was stopped. */
import { expect, vi } from 'vitest'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import type { GenerateOptions } from '../../../src/actors/generate/running.ts'
import type { Model } from '../../../src/actors/ports/index.ts'
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

verifies('contract-35.last-turn', 'a text that was held back is not shown once the reply was stopped', async () => {
  const stop = new AbortController()
  const model: Model = {
    countTokens: async (texts) => texts.map(() => 0),
    async stream(_asked, _signal, take) {
      take([say('{"held":1}')])
      stop.abort()
    },
  }
  const emitted: ReplyEvent[] = []
  const openToolbox = async () => ({
    tools: [{ name: 'tool', description: 'd', inputSchema: { type: 'object' } }],
    call: async () => ({ ok: true, content: '' }),
  })
  const json = { ...request, fields: { responseFormat: { type: 'json_object' as const } } }
  const generation = createGeneration(json, { replyId: 'r', model, openToolbox, timeoutMs: 60_000 })
  await generation
    .run(stop.signal, (events) => {
      emitted.push(...events)
      return undefined
    })
    .catch(() => {})
  expect(emitted).toEqual([])
})
