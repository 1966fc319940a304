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
