/** Contract section 25: no approval is lost, whatever servers, names and orders do. */
import { expect, test } from 'vitest'
import type { Approval, ToolIdentity } from '../../../src/persistence/records/tools/configured-tools.ts'
import type { createMcp, McpServer } from '../../../src/tools/mcp/mcp.ts'
import { workOutNames, workOutOldNames } from '../../../src/tools/naming/approvals.ts'
import { keyOfTool } from '../../../src/tools/naming/tool-names.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'
import { createToolbox, type ToolboxConfig } from '../../../src/tools/toolbox.ts'
import { samples } from '../../support/samples.ts'
import { verifies } from '../../verifies.ts'
import { toolboxConfig } from '../toolbox-config.ts'

const never = new AbortController().signal

/** The same numbers each time. */
function dice(seed: number) {
  let state = seed
  const below = (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * limit)
  }
  const shuffled = <T>(list: readonly T[]): T[] =>
    list
      .map((value) => ({ value, at: below(1e6) }))
      .sort((a, b) => a.at - b.at)
      .map(({ value }) => value)
  return { below, shuffled, pick: <T>(list: readonly T[]): T | undefined => list[below(list.length)] }
}

const serverNames = [
  '客服',
  '订单',
  '订 单',
  's',
  's',
  'a',
  'a__b',
  '客服',
  '_',
  'A very long name of a server '.repeat(3),
]
const toolNames = [
  'wipe',
  '清除',
  '删除',
  'wi.pe',
  'wi_pe',
  'b__wipe',
  'look',
  'wipe_2',
  'x'.repeat(90),
  `${'x'.repeat(90)}y`,
]
const httpNames = ['____wipe', 's__wipe', 'a__b__wipe', 'wipe', 'wi pe', 'pay']

interface Situation {
  servers: { server: McpServer; toolNames: string[]; offers: string[] }[]
  http: { id: string; name: string }[]
  builtInToolIds: string[]
  down: ReadonlySet<string>
}

const serverOf = (id: string, name: string): McpServer => ({
  id,
  name,
  transport: 'streamable_http',
  url: 'http://127.0.0.1:9/',
  headers: {},
  version: '1',
})

function configOf({ servers, http, builtInToolIds }: Situation, approvals: Partial<ToolboxConfig> = {}): ToolboxConfig {
  const rest = { description: '', method: 'GET' as const, url: 'http://127.0.0.1:9/', body: null, inputSchema: null }
  return toolboxConfig({
    httpTools: http.map((tool) => ({ ...tool, ...rest, headers: {} })),
    mcpServers: servers.map(({ server, toolNames }) => ({ server, toolNames })),
    builtInToolIds,
    ...approvals,
  })
}

async function open(situation: Situation, approvals: Partial<ToolboxConfig> = {}) {
  const calls: string[] = []
  const mcp: Pick<ReturnType<typeof createMcp>, 'toolsWithin' | 'call'> = {
    toolsWithin: async (_ms, { id }) => {
      if (situation.down.has(id)) throw new Error('down')
      const offers = situation.servers.find(({ server }) => server.id === id)?.offers ?? []
      return offers.map((name) => ({ name, description: '', inputSchema: { type: 'object' } }))
    },
    call: async ({ id }, toolName) => {
      calls.push(keyOfTool({ mcpServerId: id, toolName }))
      return { ok: true, content: 'done' }
    },
  }
  await using outbound = createOutbound({ policy: 'standard', allow: [] })
  const box = await createToolbox(configOf(situation, approvals), { outbound, mcp, log: { warn() {} } }, never)
  const names = new Map(Array.from(box.own ?? [], ([name, { key }]) => [key, name]))
  return { box, calls, names }
}

function situationOf(roll: ReturnType<typeof dice>): Situation {
  const servers = serverNames.slice(0, 2 + roll.below(serverNames.length - 1)).map((name, index) => {
    const offers = roll.shuffled(toolNames).slice(0, 2 + roll.below(toolNames.length - 1))
    return { server: serverOf(`m${index}`, name), offers, toolNames: roll.below(2) ? ['*'] : offers.slice(0, 3) }
  })
  const http = httpNames.map((name, index) => ({ id: `h${index}`, name })).slice(0, roll.below(httpNames.length + 1))
  return { servers, http, builtInToolIds: roll.below(2) ? ['current_time'] : [], down: new Set() }
}

/** The same tools under other names, in another order, with servers that do not answer. */
function shaken(before: Situation, roll: ReturnType<typeof dice>): Situation {
  const names = roll.shuffled(serverNames)
  const httpNow = roll.shuffled(httpNames)
  return {
    servers: roll.shuffled(before.servers).map(({ server, offers, toolNames }) => ({
      server: roll.below(3) ? server : { ...server, name: names[roll.below(names.length)] ?? '' },
      offers: roll.shuffled(offers),
      toolNames: roll.shuffled(toolNames),
    })),
    http: roll.shuffled(before.http).map((tool, at) => (roll.below(3) ? tool : { ...tool, name: httpNow[at] ?? '' })),
    builtInToolIds: before.builtInToolIds,
    down: new Set(before.servers.filter(() => roll.below(3) === 0).map(({ server }) => server.id)),
  }
}

const identityOf = (key: string): ToolIdentity => {
  const [kind, id = '', ...rest] = key.split(':')
  if (kind === 'http') return { httpToolId: id }
  return kind === 'mcp' ? { mcpServerId: id, toolName: rest.join(':') } : { builtInToolId: id }
}

verifies(
  ['contract-25.approval-kept', 'contract-25.waiting-tool', 'contract-25.tool-names'],
  'at random: servers down, renamed, reordered, named in Chinese',
  async () => {
    let judged = 0
    const runs = samples(75, 300)
    for (let seed = 1; seed <= runs; seed++) {
      const roll = dice(seed)
      const first = situationOf(roll)
      const { names } = await open(first)
      const keys = roll.shuffled([...names.keys()]).slice(0, 3)
      // One by identity, the others by the name that a model sees.
      const approvals: Approval[] = keys.map((key, at) => (at === 0 ? identityOf(key) : (names.get(key) ?? '')))
      const strings = approvals.filter((one) => typeof one === 'string')
      const named = workOutNames(strings, configOf(first).configured)

      // Neither order nor silence changes a name.
      const silent = { ...first, servers: roll.shuffled(first.servers), http: roll.shuffled(first.http) }
      silent.down = new Set(first.servers.filter(() => roll.below(2)).map(({ server }) => server.id))
      for (const [key, name] of (await open(silent)).names) expect(name).toBe(names.get(key))

      const now = await open(shaken(first, roll), { approvals, named })
      expect(now.names.size).toBe(now.box.tools.length)
      for (const key of keys) {
        const name = now.names.get(key)
        if (name !== undefined) {
          judged += 1
          expect([seed, name, now.box.own?.get(name)?.needsApproval]).toEqual([seed, name, true])
        }
        // Asked of this tool under its first name, decided now.
        const before = now.calls.length
        const asked = { id: '1', name: names.get(key) ?? '', arguments: '{}', tool: key }
        const { ok, content } = await now.box.call(asked, never, 'r:1')
        const made = now.calls.slice(before)
        if (key.startsWith('mcp:') && ok) expect(made).toEqual([key])
        else expect(made).toEqual([])
        if (name === undefined)
          expect(content).toMatch(/^The tool that was called .* is not here now\. The call was not made\.$/)
      }
    }
    expect(judged).toBeGreaterThan(runs)
  },
)

const two = (changes: Partial<Situation> = {}): Situation => ({
  servers: [
    { server: serverOf('cs', '客服'), toolNames: ['*'], offers: ['wipe', 'look'] },
    { server: serverOf('orders', '订单'), toolNames: ['*'], offers: ['wipe'] },
  ],
  http: [],
  builtInToolIds: [],
  down: new Set(),
  ...changes,
})
const waiting = async (situation: Situation, approvals: Partial<ToolboxConfig>) =>
  Array.from((await open(situation, approvals)).box.own ?? [], ([, { key, needsApproval }]) =>
    needsApproval ? [key] : [],
  ).flat()

verifies(
  'contract-25.old-approvals',
  'a name of before, by place in the order, protects all that shared it',
  async () => {
    const { configured } = configOf(two())
    const named = workOutOldNames(['____wipe_2'], configured)
    expect(await waiting(two(), { approvals: ['____wipe_2'], named })).toEqual(['mcp:cs:wipe', 'mcp:orders:wipe'])
    expect(await waiting(two({ down: new Set(['cs']) }), { approvals: ['____wipe_2'], named })).toEqual([
      'mcp:orders:wipe',
    ])
  },
)

verifies(
  'contract-25.approved-nothing',
  'a name that no tool has makes every call wait, one that a silent server may have does not',
  async () => {
    const all = ['mcp:cs:wipe', 'mcp:cs:look', 'mcp:orders:wipe']
    const judge = (name: string, situation = two()) =>
      waiting(situation, { approvals: [name], named: workOutNames([name], configOf(situation).configured) })
    expect(await judge('nothing')).toEqual(all)
    expect(await judge('____wipee')).toEqual(all)
    expect(await judge('____look')).toEqual(['mcp:cs:look'])
    expect(await judge('____look', two({ down: new Set(['cs']) }))).toEqual([])
    const shop = { server: serverOf('shop', 'shop'), toolNames: ['*'], offers: ['pay', 'look'] }
    const own = two({ servers: [shop, ...two().servers] })
    expect(await judge('shop__pay', { ...own, down: new Set(['shop']) })).toEqual([])
    expect(await judge('shop__pay', own)).toEqual(['mcp:shop:pay'])
  },
)

test('* of a server protects what it offers later, and no other', async () => {
  const approvals: Approval[] = [{ mcpServerId: 'cs', toolName: '*' }]
  expect(await waiting(two(), { approvals })).toEqual(['mcp:cs:wipe', 'mcp:cs:look'])
})
