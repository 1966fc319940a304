/** A message's record: built once for everything that starts or joins a reply, and plain data but for two parts. */
import { expect, test } from 'vitest'
import {
  joinOnly,
  type MessageInput,
  messageFrom,
  type RecordDependencies,
} from '../../../src/http/sending/message-record.ts'
import type { AgentForCompletion } from '../../../src/persistence/records/agent-lookup.ts'

const agent: AgentForCompletion = {
  id: 'a',
  name: 'Agent',
  model: 'm',
  generationConfig: { temperature: 0.5 },
  system: 'Be brief.',
  prompt: { id: 'p', name: 'Prompt', sha256: 'f00d' },
  provider: { id: 'v', type: 'openai', baseUrl: null, apiKey: null, wireApi: null },
  responseFormat: { type: 'json_object' },
  fallbacks: [],
  tools: { httpToolIds: [], mcpServers: [], builtInToolIds: [], approvals: [], named: {} },
  allowedOrigins: [],
  historyMaxTokens: null,
  callerInstructions: 'refuse',
  userLimits: null,
  compaction: 'none',
  onLoss: 'error',
  configuration: 7,
}
const noTools = { tools: [], check: async () => null }
const deps = {
  secrets: {},
  fieldRefusal: () => null,
  partRefusal: () => null,
  openToolbox: async () => noTools,
} as unknown as RecordDependencies // what a record is not made from is not there
const input: MessageInput = {
  sessionId: 's',
  user: 'u',
  by: 'u',
  text: 'hi',
  includeUsage: true,
  idempotency: { key: 'k', bodyHash: Buffer.from('h') },
  isRetry: false,
  onBusy: 'reject',
  origin: null,
  fields: { seed: 1 },
  reasoning: true,
  callerTools: { tools: [{ name: 'look', description: '', inputSchema: { type: 'object' } }], choice: null },
}
const carried = {
  chain: {
    turns: [],
    turn: { answer: { role: 'assistant' as const, content: '' }, results: [], waiting: [] },
    callsUsed: 0,
  },
  firstId: 'r0',
  tools: [],
  fields: { seed: 2 },
  overrides: null,
}
const wait = { replyId: 'r', pending: [], carried, waitedMs: 5 }
const decisions = { calls: [], wait, bySecret: false, asMessages: false }

const everyWay = async () => ({
  message: await messageFrom(deps, agent, input, undefined),
  decisions: await messageFrom(deps, agent, { ...input, decisions }, undefined),
  join: joinOnly(deps, agent, input, { parts: undefined, decided: undefined }),
})

test('a message, decisions and a join take the same from their agent and their request', async () => {
  for (const [way, record] of Object.entries(await everyWay())) {
    expect({ way, ...record }).toMatchObject({
      way,
      agentId: 'a',
      agentName: 'Agent',
      model: 'm',
      configuration: 7,
      facts: { providerId: 'v', prompt: agent.prompt, overrides: null },
      request: { system: 'Be brief.', config: { temperature: 0.5 }, reasoning: true },
      sessionId: 's',
      user: 'u',
      text: 'hi',
      includeUsage: true,
      idempotency: input.idempotency,
    })
  }
})

test('decisions name fields that are in force, and a join asks for none', async () => {
  const { message, decisions: decided, join } = await everyWay()
  expect(message.request.fields).toEqual({ seed: 1, responseFormat: { type: 'json_object' } })
  const later = await messageFrom(deps, agent, { ...input, fields: {}, decisions }, undefined)
  expect([decided.inForce?.fields, later.inForce?.fields]).toEqual([{ seed: 1 }, { seed: 2 }])
  expect([join.joinOnly, join.onBusy, join.request.fields]).toEqual([true, 'reject', {}])
})

test('without its toolbox and its parts a record is plain data', async () => {
  for (const { openToolbox: _, parts: __, ...record } of Object.values(await everyWay())) {
    expect(() => structuredClone(record)).not.toThrow() // it refuses functions
  }
})
