/** A server as a session reaches it, or the reason why not (contract section 27). */
import { expect } from 'vitest'
import { type ReplyValues, valuesWithoutSession } from '../../../src/templates/placeholders.ts'
import { filledServer } from '../../../src/tools/mcp-servers/filled-server.ts'
import { verifies } from '../../verifies.ts'

/** Returns the filled-in headers and the version, or the reason. */
function filled(headers: Record<string, string>, values: Partial<ReplyValues>) {
  const server = { id: 's', name: 's', transport: 'sse', url: 'https://a.test/', headers, version: '1' } as const
  const result = filledServer(server, { ...valuesWithoutSession(), ...values })
  return 'reason' in result ? result.reason : [result.server.headers, result.server.version]
}

verifies('contract-27.missing-reasons', 'a user is missing as no_user, any other value as no_value', () => {
  const user = { 'x-user': '{{session.user}}' }
  expect(filled(user, { user: null })).toBe('no_user')
  // There is a user, whom no header can carry.
  expect(filled(user, { user: 'a\nb' })).toBe('no_value')
  expect(filled({ 'x-plan': '{{session.metadata.plan}}' }, { user: null })).toBe('no_value')
  expect(filled({ 'x-id': '{{session.id}}' }, {})).toBe('no_value')
})

verifies('contract-27.header-values', 'each set of values is a server of its own, and one without is as it was', () => {
  const headers = { 'x-plan': '{{session.metadata.plan|free}}', 'x-key': 'k' }
  const [free, gold, again] = [{}, { plan: 'gold' }, { plan: 'free' }].map((metadata) => filled(headers, { metadata }))
  expect(free?.[0]).toEqual({ 'x-plan': 'free', 'x-key': 'k' })
  expect(gold?.[0]).toEqual({ 'x-plan': 'gold', 'x-key': 'k' })
  expect(again).toEqual(free)
  expect(gold?.[1]).not.toBe(free?.[1])
  expect(filled({ 'x-key': 'k' }, { user: 'ann' })).toEqual([{ 'x-key': 'k' }, '1'])
})
