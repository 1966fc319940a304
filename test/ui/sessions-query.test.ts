/** The one field that narrows the list of sessions (contract section 16): its words, and the filters that they are. */
import { expect, test } from 'vitest'
import { completionsOf, formatQuery, parseQuery, spanMs } from '../../ui/src/sessions/query/query-text.ts'

const names = {
  agents: [
    { id: 'a1', name: 'Desk' },
    { id: 'a2', name: 'Desk Lamp' },
    { id: 'a3', name: 'Night' },
  ],
  providers: [{ id: 'p1', name: 'My OpenAI' }],
}
const filtersIn = (text: string) => parseQuery(text, names).filters
const problemIn = (text: string) => parseQuery(text, names).problem

test('words of the field are filters, and all that is none of them is looked for', () => {
  expect(parseQuery('status:failed provider:"My OpenAI" http:429 older:60s refund note:x', names)).toEqual({
    filters: { status: 'error', providerId: 'p1', httpStatus: 429, older: '60s', q: 'refund note:x' },
    problem: null,
  })
  expect(filtersIn('STATUS:Stopped feedback:UP newer:2h archived:Yes code:internal user:bo text:"two words"')).toEqual({
    ...{ status: 'cancelled', feedback: 'up', newer: '2h', archived: 'true', errorCode: 'internal', user: 'bo' },
    text: 'two words',
  })
  expect(filtersIn('status:"" archived:no')).toEqual({ archived: 'false' })
})

test('a record is meant by its name, its id, or the beginning of one name alone', () => {
  const agentOf = (value: string) => filtersIn(`agent:${value}`).agentId
  expect(['desk', 'a2', '"desk l"', 'n'].map(agentOf)).toEqual(['a1', 'a2', 'a2', 'a3'])
  // Two begin so, and none: it stays what it is, and is said to be wrong.
  expect([agentOf('des'), problemIn('agent:des')]).toEqual(['des', 'There is no agent “des”'])
  expect(problemIn('provider:None')).toBe('There is no provider “None”')
})

test('what no filter can be is told, and narrows nothing', () => {
  for (const wrong of ['status:gone', 'http:42', 'http:600', 'feedback:ok', 'older:60', 'newer:1w', 'archived:true']) {
    const [field] = wrong.split(':')
    expect([wrong, problemIn(wrong), filtersIn(wrong)]).toEqual([wrong, expect.stringContaining(`${field}: is `), {}])
  }
  expect(['60s', '15m', '2h', '7d', '1w', '1234567s', 's'].map(spanMs)).toEqual([
    60_000,
    900_000,
    7_200_000,
    604_800_000,
    null,
    null,
    null,
  ])
})

test('filters are written as they are read', () => {
  const filters: Parameters<typeof formatQuery>[0] = {
    ...({
      status: 'error',
      agentId: 'a2',
      providerId: 'p1',
      httpStatus: 429,
      errorCode: 'internal',
      feedback: 'any',
    } as const),
    ...({ older: '60s', newer: '7d', user: 'b o', text: 'x', archived: 'false', q: 'refund' } as const),
  }
  const text = formatQuery(filters, names)
  expect(text).toBe(
    'status:failed agent:"Desk Lamp" provider:"My OpenAI" http:429 code:internal feedback:any older:60s newer:7d ' +
      'user:"b o" text:x archived:no refund',
  )
  expect(filtersIn(text)).toEqual(filters)
  // Names that are not loaded: the ids stand for them.
  expect(formatQuery({ agentId: 'a2' }, { agents: undefined, providers: undefined })).toBe('agent:a2')
})

test('the last word is completed, behind what was typed before', () => {
  const valuesOf = (text: string) => completionsOf(text, names).map(({ value }) => value)
  expect(valuesOf('refund a')).toEqual(['refund agent:', 'refund archived:'])
  expect(valuesOf('http:4')).toEqual(['http:400 ', 'http:401 ', 'http:403 ', 'http:404 ', 'http:429 '])
  expect(valuesOf('x agent:"desk')).toEqual(['x agent:Desk ', 'x agent:"Desk Lamp" '])
  expect(valuesOf('user:')).toEqual([])
})
