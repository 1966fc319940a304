/** A message's record: built once for everything that starts or joins a reply, and plain data but for its toolbox. */
import { expect, test } from 'vitest'
import type { MessageInput } from '../../../src/http/sending/message-input.ts'
import { joinOnly, type RecordDependencies, recordFrom } from '../../../src/http/sending/message-record.ts'
import type { AgentForCompletion } from '../../../src/persistence/records/agent-lookup.ts'

const agent: AgentForCompletion = {
  id: 'a',
  name: 'Agent',
  model: 'm',
  generationConfig: { temperature: 0.5 },
  version: 1,
  system: 'Be brief.',
  prompt: { id: 'p', name: 'Prompt', sha256: 'f00d' },
  provider: { id: 'v', type: 'openai', baseUrl: null, apiKey: null, wireApi: null },
  responseFormat: { type: 'json_object' },
  fallbacks: [],
  tools: {
    httpToolIds: [],
    mcpServers: [],
    builtInToolIds: [],
    agentTools: [],
    approvals: [],
    approvalsExpireAfterS: null,
    named: {},
  },
  allowedOrigins: [],
  historyMaxTokens: null,
  callerInstructions: 'refuse',
  userLimits: null,
  compaction: 'none',
  onLoss: 'error',
  onMissingTools: 'tell',
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
const wait = { replyId: 'r', pending: [], decided: [], user: null, carried, waitedMs: 5 }
const decisions = {
  calls: [],
  wait,
  bySecret: false,
  asMessages: false,
  inPart: true,
  decides: ['approval' as const, 'caller' as const],
}

const everyWay = async () => ({
  message: await recordFrom(deps, agent, input),
  decisions: await recordFrom(deps, agent, { ...input, decisions }),
  join: joinOnly(deps, agent, input),
})

test('a message, decisions and a join take the same from their agent and their request', async () => {
  for (const [way, record] of Object.entries(await everyWay())) {
    expect({ way, ...record }).toMatchObject({
      way,
      message: {
        agentId: 'a',
        model: 'm',
        configuration: 7,
        facts: { providerId: 'v', prompt: agent.prompt, overrides: null },
        sessionId: 's',
        user: 'u',
        text: 'hi',
        includeUsage: true,
        idempotency: input.idempotency,
      },
      setup: { agentName: 'Agent', request: { system: 'Be brief.', config: { temperature: 0.5 }, reasoning: true } },
    })
  }
})

test('decisions name fields that are in force, and a join asks for none', async () => {
  const { message, decisions: decided, join } = await everyWay()
  expect(message.setup.request.fields).toEqual({ seed: 1, responseFormat: { type: 'json_object' } })
  const later = await recordFrom(deps, agent, { ...input, fields: {}, decisions })
  expect([decided.setup.inForce?.fields, later.setup.inForce?.fields]).toEqual([{ seed: 1 }, { seed: 2 }])
  expect([join.joinOnly, join.message.onBusy, join.setup.request.fields]).toEqual([true, 'reject', {}])
})

test('without its toolbox a record is plain data', async () => {
  for (const { setup, ...record } of Object.values(await everyWay())) {
    const { openToolbox: _, ...plain } = setup
    expect(() => structuredClone({ ...record, setup: plain })).not.toThrow() // it refuses functions
  }
})
