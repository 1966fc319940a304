/** What the tests of native providers share: both vendors' servers, and the adapters against them. */
import { onTestFinished } from 'vitest'
import type { ModelRequest } from '../../../src/actors/ports/index.ts'
import { connectionTo, requestTo, scene } from '../scene.ts'
import * as anthropic from './anthropic-server.ts'
import * as gemini from './gemini-server.ts'

export const vendors = {
  anthropic: { start: anthropic.startAnthropic, tells: anthropic.tells, model: 'claude-opus-5-5' },
  gemini: { start: gemini.startGemini, tells: gemini.tells, model: 'gemini-3-flash' },
}
export type Vendor = keyof typeof vendors

/** A model and a vendor's server; `request` asks a model of that vendor. */
export async function open(vendor: Vendor, options: Parameters<typeof scene>[0] = {}) {
  const { model } = await scene(options)
  const up = await vendors[vendor].start()
  onTestFinished(() => up.close())
  const request = (changes: Partial<ModelRequest> = {}) =>
    requestTo(null, { provider: connectionTo(up.base, vendor), model: vendors[vendor].model, ...changes })
  return { up, model, request }
}

export const look = {
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
}
export const both = ['anthropic', 'gemini'] as const
