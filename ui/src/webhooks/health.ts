/** How the newest deliveries of a webhook went, in a few words. Pure. */
import type { components } from '../../../openapi/generated/schema.ts'
import { wholeNumber } from '../blocks/words.ts'

type Delivery = Pick<components['schemas']['WebhookDelivery'], 'status' | 'attempts' | 'lastError'>

export interface Health {
  /** `bad` while the newest one that was attempted has not been received. */
  level: 'good' | 'bad' | 'none'
  words: string
  /** The reason of the newest failure. */
  reason: string | null
}

/** Returns the health of a webhook, from its newest deliveries, newest first. */
export function healthOf(deliveries: readonly Delivery[], enabled: boolean): Health {
  if (!enabled) return { level: 'none', words: 'Disabled', reason: null }
  const tried = deliveries.filter(({ status, attempts }) => status !== 'pending' || attempts > 0)
  const lost = tried.filter(({ status }) => status !== 'delivered')
  const [newest] = tried
  if (newest === undefined) return { level: 'none', words: 'Nothing sent yet', reason: null }
  const level = newest.status === 'delivered' ? 'good' : 'bad'
  if (lost.length === 0) return { level, words: 'Delivers', reason: null }
  const count = wholeNumber(tried.length)
  const of = lost.length === tried.length ? `${count} of ${count}` : `${wholeNumber(lost.length)} of the last ${count}`
  return { level, words: level === 'bad' ? `Fails: ${of}` : `Delivers, lost ${of}`, reason: lost[0]?.lastError ?? null }
}
