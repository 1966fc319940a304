/** Limits as a form has them: '' is no limit. */
import type { components } from '../../../openapi/generated/schema.ts'
import { wholeNumber } from '../blocks/words.ts'

export type Limits = NonNullable<components['schemas']['Key']['limits']>
export type LimitName = keyof Limits
export type LimitValues = Record<LimitName, number | string>
export type LimitUse = components['schemas']['KeyUse']

export function valuesOfLimits(limits: Limits | null): LimitValues {
  const { requestsPerMinute = '', concurrentReplies = '', tokensPerDay = '', costPerMonth = '' } = limits ?? {}
  return { requestsPerMinute, concurrentReplies, tokensPerDay, costPerMonth }
}

/** Returns the limits of a form. The server checks them. */
export function limitsOfValues(values: LimitValues): Limits | null {
  const given = (Object.entries(values) as [LimitName, number | string][]).filter(([, value]) => value !== '')
  return given.length === 0 ? null : Object.fromEntries(given.map(([name, value]) => [name, Number(value)]))
}

interface Field {
  name: LimitName
  label: string
  description: string
  step: number
  /** The usage so far. */
  used: (use: LimitUse) => string
}

export const limitFields: readonly Field[] = [
  {
    name: 'requestsPerMinute',
    label: 'Requests per minute',
    description: 'Requests that begin a reply, in any 60 seconds.',
    step: 1,
    used: ({ requestsLastMinute }) => `${wholeNumber(requestsLastMinute)} in the last minute`,
  },
  {
    name: 'concurrentReplies',
    label: 'Concurrent replies',
    description: 'Replies that run at the same moment.',
    step: 1,
    used: ({ runningReplies }) => `${wholeNumber(runningReplies)} running`,
  },
  {
    name: 'tokensPerDay',
    label: 'Tokens per day',
    description: 'Input and output tokens, from midnight UTC.',
    step: 1000,
    used: ({ tokensToday }) => `${wholeNumber(tokensToday)} today`,
  },
  {
    name: 'costPerMonth',
    label: 'Cost per month',
    description: 'By the prices under Usage, from the first of the month, UTC.',
    step: 1,
    used: ({ costThisMonth }) => `${costThisMonth.toLocaleString('en', { maximumFractionDigits: 4 })} this month`,
  },
]
