/** Between two turns: who steers, and who takes a reply over (contract sections 21 and 22). */
import { expect } from 'vitest'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import { ask, end, never, request, say, script } from '../../actors/generate/generation-scene.ts'
import { verifies } from '../../verifies.ts'

verifies(
  'contract-21.boundary',
  'a steering message goes before a handover, also one that comes while it is offered',
  async () => {
    const endsWith = async (steered: boolean[]) => {
      let offers = 0
      const toolbox = {
        tools: [{ name: 'tool', description: 'd', inputSchema: { type: 'object' } }],
        call: async () => ({ ok: true, content: '' }),
      }
      const generation = createGeneration(request, {
        replyId: 'r',
        model: script([ask('c'), end('tool_calls')], [say('done'), end()]),
        openToolbox: async () => toolbox,
        timeoutMs: 60_000,
        isSteered: async () => steered.shift() ?? false,
        atBoundary: async () => {
          offers += 1
        },
      })
      const ending = await generation.run(
        never,
        () => undefined,
        async () => true,
      )
      return { reason: ending.type === 'finished' && ending.reason, offers }
    }
    expect(await endsWith([true])).toEqual({ reason: 'steered', offers: 0 })
    expect(await endsWith([false, true])).toEqual({ reason: 'steered', offers: 1 })
    expect(await endsWith([])).toEqual({ reason: 'stop', offers: 1 })
  },
)
