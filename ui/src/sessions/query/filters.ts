/** The filters of the list of sessions. */
import type { components } from '../../../../openapi/generated/schema.ts'

export type SessionStatus = components['schemas']['SessionOverview']['status']

export interface SessionFilters {
  q?: string
  /** The place in which `q` is looked for. Absent: in titles. */
  in?: 'messages'
  archived?: 'true' | 'false'
  agentId?: string
  user?: string
  status?: SessionStatus
  errorCode?: string
  providerId?: string
  httpStatus?: number
  /** With a reply of which somebody thinks so. */
  feedback?: 'up' | 'down' | 'any'
  /** A part of a message. */
  text?: string
  /** Updated longer ago than this, such as `60s`; less long ago. */
  older?: string
  newer?: string
  /** Updated from this time on, before that one: ISO 8601. */
  from?: string
  to?: string
}
