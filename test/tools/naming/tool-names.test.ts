/** Contract section 25: the names of tools as models see them. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ConfiguredTools } from '../../../src/persistence/records/tools/configured-tools.ts'
import { bearersOf, createNames, mcpTool, plainName } from '../../../src/tools/naming/tool-names.ts'
import { verifies } from '../../verifies.ts'

const none: ConfiguredTools = { httpTools: [], mcpServers: [], builtInToolIds: [], agentTools: [] }
const http = (id: string, name: string) => ({ identity: { httpToolId: id }, fullName: name })
const digits = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 6)
const server = (id: string, name: string, ...toolNames: string[]) => ({ id, name, toolNames })

verifies(['contract-25.tool-names', 'contract-6.names'], 'a name that models accept, and nobody shares, stays', () => {
  const names = createNames({
    httpTools: [{ id: 'h', name: 'get_weather-2' }],
    mcpServers: [server('m', 'shop', '*')],
    builtInToolIds: ['current_time'],
    agentTools: [],
  })
  expect(names(http('h', 'get_weather-2'))).toBe('get_weather-2')
  expect(names(mcpTool({ id: 'm', name: 'shop' }, 'pay'))).toBe('shop__pay')
  expect(names({ identity: { builtInToolId: 'current_time' }, fullName: 'current_time' })).toBe('current_time')
})

verifies('contract-25.tool-names', 'one that was changed ends in six digits of the tool’s identity', () => {
  const names = createNames(none)
  expect(names(http('h', 'Get the weather!'))).toBe(`Get_the_weather__${digits('http:h')}`)
  expect(names(mcpTool({ id: 'm', name: '客服' }, 'wipe'))).toBe(`____wipe_${digits('mcp:m:wipe')}`)
  const long = names(http('h', 'x'.repeat(65)))
  expect(long).toBe(`${'x'.repeat(57)}_${digits('http:h')}`)
  expect(names(http('h', 'x'.repeat(64)))).toBe('x'.repeat(64))
})

verifies('contract-25.tool-names', 'a shared name ends so for each that shares it, whichever kind it is', () => {
  const configured = {
    httpTools: [
      { id: 'a', name: 'current_time' },
      { id: 'b', name: 'do.it' },
      { id: 'c', name: 'do_it' },
      { id: 'd', name: 'alone' },
    ],
    mcpServers: [],
    builtInToolIds: ['current_time'],
    agentTools: [],
  }
  const names = createNames(configured)
  expect(configured.httpTools.map(({ id, name }) => names(http(id, name)))).toEqual([
    `current_time_${digits('http:a')}`,
    `do_it_${digits('http:b')}`,
    `do_it_${digits('http:c')}`,
    'alone',
  ])
  expect(names({ identity: { builtInToolId: 'current_time' }, fullName: 'current_time' })).toBe(
    `current_time_${digits('built-in:current_time')}`,
  )
})

verifies(
  'contract-25.tool-names',
  'servers that share a name share all their tools; so may one that offers all',
  () => {
    const names = createNames({
      httpTools: [{ id: 'h', name: 'open__pay' }],
      mcpServers: [server('1', 's', 'pay'), server('2', 's', 'look'), server('3', 'open', '*'), server('4', 'off')],
      builtInToolIds: [],
      agentTools: [],
    })
    expect(names(mcpTool({ id: '1', name: 's' }, 'pay'))).toBe(`s__pay_${digits('mcp:1:pay')}`)
    expect(names(mcpTool({ id: '2', name: 's' }, 'look'))).toBe(`s__look_${digits('mcp:2:look')}`)
    expect(names(http('h', 'open__pay'))).toBe(`open__pay_${digits('http:h')}`)
    expect(names(mcpTool({ id: '3', name: 'open' }, 'pay'))).toBe(`open__pay_${digits('mcp:3:pay')}`)
    expect(names(mcpTool({ id: '3', name: 'open' }, 'look'))).toBe('open__look')
  },
)

test('tools of one server that models would see by one name share it', () => {
  const own = { id: 'm', name: 's' }
  const names = createNames({ ...none, mcpServers: [server('m', 's', '*')] })
  const siblings = bearersOf(['do.it', 'do_it', 'look'].map((name) => mcpTool(own, name)))
  expect(['do.it', 'do_it', 'look'].map((name) => names(mcpTool(own, name), siblings))).toEqual([
    `s__do_it_${digits('mcp:m:do.it')}`,
    `s__do_it_${digits('mcp:m:do_it')}`,
    's__look',
  ])
})

test.each([
  ['get_weather-2', 'get_weather-2'],
  ['Get the weather!', 'Get_the_weather_'],
  ['wetter.für', 'wetter_f_r'],
  ['a😀b', 'a_b'],
  ['e\u0301', 'e_'],
  ['👩‍🚀', '___'],
  ['x'.repeat(65), 'x'.repeat(64)],
  ['😀'.repeat(200), '_'.repeat(64)],
])('%s is %s in plain', (name, plain) => {
  expect(plainName(name)).toBe(plain)
})
