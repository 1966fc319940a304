/** The cost of remembered decisions for a reply (contract section 29). */
import { expect } from 'vitest'
import type { Toolbox } from '../../../src/actors/ports/index.ts'
import { createCallPolicy } from '../../../src/features/approvals/waiting-calls.ts'
import { verifies } from '../../verifies.ts'

const spec = (name: string) => ({ name, description: '', inputSchema: {} })
const toolbox: Toolbox = {
  tools: [spec('look'), spec('pay')],
  own: new Map([
    ['look', { key: 'http:look', needsApproval: false }],
    ['pay', { key: 'http:pay', needsApproval: true }],
  ]),
  asking: async ({ arguments: text }) => (text === '{"amount":80}' ? [{ when: null, mayRemember: null }] : []),
  call: async () => ({ ok: true, content: '' }),
}
const pay = (id: string, amount: number) => ({ id, name: 'pay', arguments: `{"amount":${amount}}` })

verifies(
  'contract-29.remembered-costs',
  'only a turn that would wait looks at what is remembered, and once for all its calls',
  async () => {
    const reads: (readonly string[])[] = []
    const find = async (_: string, tools: readonly string[]) => {
      reads.push(tools)
      return []
    }
    const shows = { approval: true, caller: true }
    const { judge } = createCallPolicy(find)({ callerTools: [], toolChoice: null, canWait: true, shows })
    const look = { id: 'c1', name: 'look', arguments: '{}' }
    expect(await judge([look, look], toolbox, 'r')).toEqual([null, null])
    expect(await judge([pay('c2', 10)], toolbox, 'r')).toEqual([null])
    expect(reads).toEqual([])
    expect(await judge([look, pay('c3', 80), pay('c4', 80)], toolbox, 'r')).toEqual([
      null,
      { waits: 'approval' },
      { waits: 'approval' },
    ])
    expect(reads).toEqual([['http:pay']])
    const stateless = createCallPolicy(find)({ callerTools: [], toolChoice: null, canWait: false, shows })
    await stateless.judge([pay('c5', 80)], toolbox, 'r')
    expect(reads).toHaveLength(1)
  },
)

verifies('contract-29.remembered', 'where it cannot be read, a call is asked about rather than made', async () => {
  const away = async () => {
    throw new Error('The database is away.')
  }
  const shows = { approval: true, caller: true }
  const { judge } = createCallPolicy(away)({ callerTools: [], toolChoice: null, canWait: true, shows })
  expect(await judge([pay('c1', 80)], toolbox, 'r')).toEqual([{ waits: 'approval' }])
})
