/** What each part of the suite is given. */
import type { Ask, Driver } from './driver.ts'
import type { Row } from './rows.ts'
import { apiKey, type Kind, type Scene } from './scene.ts'

export interface Play {
  kind: Kind
  scene(): Scene
  driver: Driver
  record(row: Row, cell: string): void
}

/** A question to a base URL; the client does not try again by itself unless it says so. */
export const ask = (baseURL: string, content: string, more: Partial<Ask> = {}): Ask => ({
  baseURL,
  apiKey,
  messages: [{ role: 'user', content }],
  retries: 0,
  ...more,
})
