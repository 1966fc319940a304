/** Numbers of tokens as people read them. */
import { once } from '../blocks/once.ts'

const compact = once(() => new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }))

/** Returns `1.2M`, for narrow places. */
export const shortNumber = (count: number): string => compact().format(count)

const amount = once(() => new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 }))

/** Returns `$1.25`. */
export const money = (currency: string, value: number): string =>
  `${value < 0 ? '−' : ''}${currency}${amount().format(Math.abs(value))}`
