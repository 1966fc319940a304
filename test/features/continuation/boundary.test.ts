/** Between two turns: who steers, and who takes a reply over (contract sections 21 and 22). */
import { expect } from 'vitest'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import type { ReplyInfo } from '../../../src/actors/ports/index.ts'
import { endsAtBoundary, type HostExtension } from '../../../src/actors/session/extension.ts'
import { ask, end, never, request, say, script } from '../../actors/generate/generation-scene.ts'
import { verifies } from '../../verifies.ts'

const reply: ReplyInfo = {
  ...{ id: 'r', sessionId: 's', sessionNum: 1, firstSeq: 1, model: 'm', includeUsage: false },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', instanceId: 'i', epoch: 1 },
}

const fail = (details: object) => expect.fail(JSON.stringify(details))

verifies(
  'contract-21.boundary',
  'a steering message goes before a handover, also one that comes while it is offered',
  async () => {
    const endsWith = async (steered: boolean[]) => {
      let offers = 0
      const extensions: HostExtension[] = [
        { atBoundary: async () => (steered.shift() ? 'ends' : null) },
        {
          atBoundary: async () => {
            offers += 1
            return 'waited' as const
          },
        },
      ]
      const host = { extensions, options: { log: { error: fail, warn: fail, info: fail } } }
      const toolbox = {
        tools: [{ name: 'tool', description: 'd', inputSchema: { type: 'object' } }],
        call: async () => ({ ok: true, content: '' }),
      }
      const generation = createGeneration(request, {
        replyId: 'r',
        model: script([ask('c'), end('tool_calls')], [say('done'), end()]),
        openToolbox: async () => toolbox,
        timeoutMs: 60_000,
        atBoundary: (isStored) => endsAtBoundary(host, { reply, isStored }),
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
