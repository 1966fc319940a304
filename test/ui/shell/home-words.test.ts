/** The one sentence of the home page: an incident by its cause, silence, or that all is well. */
import { expect, test } from 'vitest'
import { timeOfDay } from '../../../ui/src/blocks/time-words.ts'
import { binsOf, causesOf, type Failed, sentenceOf } from '../../../ui/src/home/causes.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 3, minute)).toISOString()
const failed = (
  minute: number,
  agent: string,
  errorCode = 'provider_auth',
  httpStatus: number | null = 401,
): Failed => ({
  id: `${minute}`,
  agentId: agent,
  agentName: agent,
  errorCode,
  updatedAt: at(minute),
  reply: { providerId: 'vendor', httpStatus },
})
const hours = (replies: number, failures: number) => [{ replies, failures }]
const words = () => 'The provider refused the API key'
const sentence = (causes: readonly Failed[], replies: number, silent = 0) =>
  sentenceOf({
    ...{ causes: causesOf(causes), words, silent, before: [], firstTokenMs: null },
    hours: hours(replies, causes.length),
  })

test('failures of one cause are told together, whichever agents they are of, with when they began', () => {
  const causes = causesOf([
    failed(30, 'Desk'),
    failed(20, 'Lamp'),
    failed(12, 'Desk'),
    failed(11, 'Desk', 'internal', null),
  ])
  expect(causes.map(({ code, count, since, agents }) => [code, count, since, agents.size])).toEqual([
    ['provider_auth', 3, at(12), 2],
    ['internal', 1, at(11), 1],
  ])
  expect(causes[0]?.newest.id).toBe('30')
})

test('an incident is named before anything else, and few failures among many replies are none', () => {
  const told = `Desk has failed since ${timeOfDay(Date.parse(at(12)))}: the provider refused the API key (2 sessions)`
  expect(sentence([failed(30, 'Desk'), failed(12, 'Desk')], 10, 1)).toEqual({ level: 'bad', text: told })
  expect(sentence([failed(30, 'Desk')], 1_000, 0)).toEqual({
    level: 'good',
    text: 'All well: 1,000 replies in 24 hours, 0.1 % failed',
  })
})

test('silent replies are looked at where nothing fails', () => {
  expect(sentence([], 10, 1)).toEqual({ level: 'look', text: '1 reply is silent for over 60 s' })
  expect(sentence([], 0)).toMatchObject({ level: 'good', text: 'All well: 0 replies in 24 hours, 0 % failed' })
})

test('all is well with the time to the first token and the day before, where they are known', () => {
  const standing = { causes: [], words, silent: 0, hours: hours(10, 0), before: [], firstTokenMs: 520 }
  const told = 'All well: 10 replies in 24 hours, 0 % failed'
  expect(sentenceOf(standing).text).toBe(`${told}, first token 520 ms`)
  expect(sentenceOf({ ...standing, before: hours(200, 3) }).text).toBe(
    `${told} (1.5 % the day before), first token 520 ms`,
  )
})

test('failures are counted by twelfths of the time that is shown, its ends included', () => {
  const [cause] = causesOf([failed(60, 'Desk'), failed(4, 'Desk'), failed(0, 'Desk')])
  const span = { from: Date.parse(at(0)), to: Date.parse(at(60)) }
  expect(binsOf(cause?.times ?? [], span)).toEqual([2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
})
