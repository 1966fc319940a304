/** The rules of addresses (contract section 6). Pure. */
import { expect } from 'vitest'
import { outboundRule } from '../../../src/settings-values.ts'
import { refusalOf } from '../../../src/tools/outbound/address-rules.ts'
import { verifies } from '../../verifies.ts'

const allowing = (...values: string[]) => values.map((value) => outboundRule(value))

verifies('contract-6.outbound', 'a host of OUTBOUND_ALLOW is one name, with a dot at its end and without', () => {
  const judge = (allow: string, host: string) =>
    refusalOf({ host, port: 80, address: '10.0.0.1' }, 'model', { policy: 'strict', allow: allowing(allow) })
  expect([judge('api.internal', 'api.internal.'), judge('api.internal.', 'api.internal')]).toEqual([null, null])
  for (const host of ['x.api.internal', 'internal', 'api.internal.test']) {
    expect(judge('api.internal', host)).toMatch(/not a public address/)
  }
})

verifies(
  'contract-6.outbound',
  'a range opens all that it says: all of IPv4 as mapped, and a metadata range as a whole',
  () => {
    const judge = (allow: string, address: string) =>
      refusalOf({ host: address, port: 80, address }, 'model', { policy: 'strict', allow: allowing(allow) })
    expect(judge('::ffff:0:0/96', '10.0.0.1')).toBeNull()
    expect(judge('::ffff:0:0/95', '10.0.0.1')).toMatch(/not a public address/)
    expect(judge('64:ff9b::a00:1/128', '10.0.0.1')).toBeNull()
    expect(judge('169.254.0.0/16', '169.254.1.1')).toBeNull()
    expect(judge('169.254.0.0/15', '169.254.1.1')).toMatch(/never called/)
  },
)
