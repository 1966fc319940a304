/** What forms hold of records, and what they send of it (contract sections 2, 15, 19, 23, 29 and 35). */
import { describe, expect, test } from 'vitest'
import { badJson, fieldsOf, valuesOf } from '../../ui/src/agents/agent-values.ts'
import { approvalsOf, askedBy, type KnownTool, withAsking } from '../../ui/src/agents/approvals.ts'
import { noTools } from '../../ui/src/agents/tool-kinds.ts'
import { fieldsOf as fieldsOfKey, roleOfValues, valuesOf as valuesOfKey } from '../../ui/src/keys/key-values.ts'

const uuid = '0198c0de-0000-7000-8000-00000000000a'

describe('an agent', () => {
  test('comes out of its form as it went in', () => {
    const agent = {
      ...{ name: 'Desk', providerId: uuid, model: 'm', promptId: null, systemPrompt: 'Be brief.' },
      fallbacks: [{ providerId: uuid, model: 'n' }],
      responseFormat: { type: 'json_object' as const },
      allowedOrigins: ['https://a.example', 'https://b.example'],
      callerInstructions: 'append' as const,
      userLimits: { requestsPerMinute: 3 },
      compaction: 'auto' as const,
      onLoss: 'continue' as const,
      onMissingTools: 'fail' as const,
      historyMaxTokens: 0,
      generationConfig: {
        ...{ temperature: 0, topP: 0.5, topK: 4, maxToolCalls: 0, maxOutputTokens: 9, reasoningEffort: 'low' as const },
      },
    }
    const tools = { ...noTools, builtInToolIds: ['web_fetch'], approvals: ['pay'], approvalsExpireAfterS: 60 }
    expect(fieldsOf(valuesOf(agent, tools))).toEqual({ ...agent, tools })
  })

  test('empty fields are not set, and words lose the spaces around them', () => {
    const empty = fieldsOf(valuesOf({}))
    expect(empty).toMatchObject({ historyMaxTokens: null, userLimits: null, responseFormat: null, systemPrompt: null })
    expect(Object.values(empty.generationConfig ?? {})).toEqual([null, null, null, null, null, null])
    const typed = { ...valuesOf({}), model: ' m ', allowedOrigins: ' https://a.example \n\n', systemPrompt: 'Own' }
    expect(fieldsOf(typed)).toMatchObject({ model: 'm', allowedOrigins: ['https://a.example'], systemPrompt: 'Own' })
    // Its own text counts where it has no prompt.
    expect(fieldsOf({ ...typed, promptId: uuid })).toMatchObject({ promptId: uuid, systemPrompt: null })
    expect(['{"type": "text"}', ' ', '{'].map(badJson)).toEqual([null, null, 'Must be JSON.'])
  })

  test('approval of every tool is one word, whatever stands beside it', () => {
    const all = valuesOf({}, { ...noTools, approvals: '*' })
    expect(all.approvals).toEqual(['*'])
    expect(fieldsOf({ ...all, approvals: ['pay', '*'] }).tools.approvals).toBe('*')
  })
})

describe('which tools ask', () => {
  const mcp = (toolName: string): KnownTool => ({
    label: `files__${toolName}`,
    approval: { mcpServerId: uuid, toolName },
  })
  const [pay, files]: [KnownTool, KnownTool] = [{ label: 'pay', approval: { httpToolId: uuid } }, mcp('read')]
  // The server may send the fields in another order.
  const turned = { toolName: 'read', mcpServerId: uuid }

  test('a tool asks by its own approval, or by one of its server, or of all tools', () => {
    expect([askedBy(files, [turned]), askedBy(files, ['files__read']), askedBy(pay, [pay.approval])]).toEqual([
      'own',
      'own',
      'own',
    ])
    expect([askedBy(files, [mcp('*').approval]), askedBy(pay, '*'), askedBy(pay, ['*', pay.approval])]).toEqual([
      'wider',
      'wider',
      'wider',
    ])
    expect([askedBy(files, [mcp('write').approval, pay.approval]), askedBy(pay, [mcp('*').approval])]).toEqual([
      null,
      null,
    ])
    // A condition makes no other tool of it.
    expect(askedBy(pay, [{ ...pay.approval, when: '{}' }])).toBe('own')
  })

  test('its approval is put, or taken away in each of its forms, and others stay', () => {
    const others = ['look', mcp('write').approval]
    expect(withAsking([...others, turned, 'files__read'], files, false)).toEqual(others)
    expect(withAsking(others, files, true)).toEqual([...others, files.approval])
    expect(withAsking([turned], files, true)).toEqual([files.approval])
  })

  test('a label is the tool that bears it, with its condition; what stood there before stays as it was', () => {
    const before = [turned, { ...pay.approval, when: '{"a": 1.0}' }]
    expect(approvalsOf(['files__read', 'pay when {"a": 1.0}', 'unknown'], before, [pay, files])).toEqual([
      ...before,
      'unknown',
    ])
    expect(approvalsOf(['pay when {"a":2} remember user', 'pay when {', 'pay remember agent'], [], [pay])).toEqual([
      { ...pay.approval, when: '{"a":2}', mayRemember: 'user' },
      'pay when {',
      'pay remember agent',
    ])
  })
})

describe('a key', () => {
  const key = {
    ...{ id: uuid, name: 'ci', hint: 'gk', role: null, agentIds: null, limits: null, createdBy: null },
    ...{ createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', lastUsedAt: null },
    expiresAt: '2027-01-31T08:00:00Z',
    scopes: ['deploy' as const],
  }

  test('keeps its time of day unless its day is changed, and lasts to the end of a new one', () => {
    const values = valuesOfKey(key)
    expect(fieldsOfKey(values, key).expiresAt).toBe('2027-01-31T08:00:00Z')
    expect(fieldsOfKey({ ...values, expiresOn: '2027-02-01' }, key).expiresAt).toBe('2027-02-01T23:59:59Z')
    expect(fieldsOfKey({ ...values, expiresOn: '' }, key).expiresAt).toBeNull()
    expect(fieldsOfKey({ ...values, expiresOn: '2027-01-31' }, null).expiresAt).toBe('2027-01-31T23:59:59Z')
  })

  test('opens all agents, or the named ones, though none of these is there any more', () => {
    expect(fieldsOfKey(valuesOfKey(key), key).agentIds).toBeNull()
    expect(fieldsOfKey(valuesOfKey({ ...key, agentIds: [] }), key).agentIds).toEqual([])
    expect(fieldsOfKey({ ...valuesOfKey(key), agentIds: [uuid], isForAll: true }, key).agentIds).toBeNull()
  })

  test('has a role where it manages, and limits where one is given', () => {
    const values = { ...valuesOfKey(null), role: 'viewer' as const }
    expect([roleOfValues(values), roleOfValues({ ...values, scopes: ['management'] })]).toEqual([null, 'viewer'])
    expect(roleOfValues({ ...values, scopes: ['deploy', 'management:read'] })).toBe('viewer')
    expect(roleOfValues({ ...values, role: '', scopes: ['management'] })).toBeNull()
    const limits = { ...values.limits, tokensPerDay: '20', requestsPerMinute: 0 }
    expect(fieldsOfKey({ ...values, limits }, null).limits).toEqual({ tokensPerDay: 20, requestsPerMinute: 0 })
    expect(fieldsOfKey(values, null).limits).toBeNull()
  })
})
