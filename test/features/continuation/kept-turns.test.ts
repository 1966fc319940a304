/** What is stored with each turn of calls, so that another instance can go on behind it. */
import { expect, test } from 'vitest'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import type { ModelEvent } from '../../../src/actors/ports/index.ts'
import type { Usage } from '../../../src/actors/reply/reply-event.ts'
import { ask, never, request, say, script } from '../../actors/generate/generation-scene.ts'

const unreported: ModelEvent = { type: 'end', reason: 'tool_calls', usage: null }

test('of a provider that reports no usage, each text is counted once, with the first turn that has it', async () => {
  const model = script(
    [say('one'), ask('a'), unreported],
    [say('twos'), ask('b'), unreported],
    [say('three'), unreported],
  )
  const kept: Usage[] = []
  const generation = createGeneration(request, {
    replyId: 'r',
    model,
    openToolbox: async () => ({
      tools: [{ name: 'tool', description: 'd', inputSchema: { type: 'object' } }],
      call: async ({ id }) => ({ ok: true, content: `result of ${id}` }),
    }),
    timeoutMs: 60_000,
    async keepTurn(_, { used }) {
      kept.push(used)
      return true
    },
  })
  await generation.run(
    never,
    () => undefined,
    async () => true,
  )
  const [prompt, one, two, three, result] = [8, 3, 4, 5, 11]
  const estimated = true
  expect(kept).toEqual([
    { promptTokens: prompt, completionTokens: one, estimated },
    { promptTokens: 2 * prompt + one + result, completionTokens: one + two, estimated },
  ])
  expect(await generation.usage()).toEqual({
    promptTokens: 3 * prompt + 2 * (one + result) + two + result,
    completionTokens: one + two + three,
    estimated,
  })
  expect(model.counted.map((texts) => [...texts].sort())).toEqual([
    ['hello', 'one', 'sys'],
    ['result of a', 'twos'],
    ['result of b', 'three'],
  ])
})
