/** The limits of a model that goes on behind an interrupted text (contract section 21). */
import { expect } from 'vitest'
import { createGeneration } from '../../../src/actors/generate/generate.ts'
import type { ModelRequest } from '../../../src/actors/ports/index.ts'
import { capabilities } from '../../../src/compose/capabilities.ts'
import type { ResumePoint } from '../../../src/features/continuation/resume-point.ts'
import { resumption } from '../../../src/features/continuation/resumption.ts'
import { end, never, request, say, script } from '../../actors/generate/generation-scene.ts'
import { verifies } from '../../verifies.ts'

const interrupted = (text: string): ResumePoint => ({
  said: [],
  spent: 0,
  calls: 0,
  turns: 0,
  text,
  reasoning: '',
  isFirstCall: true,
  hasDecided: false,
  used: { promptTokens: 0, completionTokens: 0, estimated: false },
  attempts: 1,
  firstTokenMs: 5,
  reasoningMs: null,
  unknown: [],
  notMade: [],
  open: [],
  wait: null,
  lacksTools: false,
  model: null,
})

/** Returns the request that the model gets behind `text`. The scripted model counts each character as a token. */
async function askedBehind(text: string, limits: Partial<ModelRequest>) {
  const model = script([say(' and on'), end()])
  const generation = createGeneration(
    { ...request, ...limits },
    {
      replyId: 'r',
      model,
      openToolbox: async () => ({ tools: [], call: () => Promise.reject(new Error('no tools')) }),
      timeoutMs: 60_000,
      from: resumption(interrupted(text), () => {
        throw new Error('nothing is joined')
      }),
      ...capabilities,
    },
  )
  await generation.run(
    never,
    () => undefined,
    async () => true,
  )
  return model.requests
}

const maxTokens = { value: 10, name: 'max_tokens' as const }

verifies('contract-21.continued', 'each limit of its tokens is asked for less what the text has used', async () => {
  const [asked] = await askedBehind('four', {
    fields: { maxTokens },
    agentFields: { maxTokens: 20 },
    config: { maxOutputTokens: 30 },
  })
  expect(asked).toMatchObject({
    fields: { maxTokens: { value: 6, name: 'max_tokens' } },
    agentFields: { maxTokens: 16 },
    config: { maxOutputTokens: 26 },
  })
})

verifies('contract-21.continued', 'at least one token is asked for, and none where no limit was', async () => {
  const [used] = await askedBehind('as long as the limit', { fields: { maxTokens } })
  expect(used?.fields?.maxTokens?.value).toBe(1)
  const [free] = await askedBehind('four', {})
  expect(free?.fields?.maxTokens).toBeUndefined()
  expect(free?.config).toEqual({})
})
