import { expect } from 'vitest'
import { responsesUsage } from '../../../src/providers/wire/reported-usage.ts'
import { verifies } from '../../verifies.ts'

verifies('contract-19.usage', 'what a total on the Responses API has beyond its sum counts as completion', () => {
  const counts = { input_tokens: 100, output_tokens: 1 }
  expect(responsesUsage({ ...counts, total_tokens: 391 })).toEqual({ promptTokens: 100, completionTokens: 291 })
  expect(responsesUsage({ ...counts, total_tokens: 101 })).toEqual({ promptTokens: 100, completionTokens: 1 })
})
