/** The input of the tool `ask`, as a client sends it (contract section 30). */
import { isObject } from '../../../untrusted/is-object.ts'
import { badRequest } from '../../server/http-error.ts'

export const askSchema = {
  type: 'object' as const,
  properties: {
    message: { type: 'string' as const, description: 'The message to the agent.' },
    session_id: {
      type: 'string' as const,
      description: 'Continues the conversation that an earlier answer named. Without it a new one begins.',
    },
  },
  required: ['message'],
  additionalProperties: false,
}

export const answerSchema = {
  type: 'object' as const,
  properties: {
    text: { type: 'string' as const },
    session_id: { type: 'string' as const },
    message_id: { type: 'string' as const },
    status: { type: 'string' as const, enum: ['complete', 'cancelled', 'error', 'waiting'] },
  },
  required: ['text', 'session_id', 'message_id', 'status'],
  additionalProperties: false,
}

export interface AskInput {
  message: string
  /** Null when the call makes a session. */
  sessionId: string | null
}

/** Throws 400. */
export function readAskInput(given: unknown): AskInput {
  const fields = given ?? {}
  if (!isObject(fields)) return badRequest('arguments: must be an object')
  const { message, session_id: sessionId, ...others } = fields
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) badRequest(`${unknown.slice(0, 100)}: is not an argument of ask`)
  if (typeof message !== 'string') return badRequest('message: is required and must be a string')
  if (message === '') badRequest('message: must have at least 1 character')
  if (sessionId === undefined) return { message, sessionId: null }
  return typeof sessionId === 'string' ? { message, sessionId } : badRequest('session_id: must be a string')
}

/** The metadata of a call that concerns us. */
export interface AskMeta {
  /** The user for whom a deploy key asks. Null when none is named. */
  user: string | null
  key: string | null
  /** The number of MCP calls in a row that led to this one. Absent when it tells of none. */
  depth: number | undefined
}

const MOST_USER = 200
const MOST_KEY = 255
const MOST_DEPTH = 3

/** Throws 400. */
export function readAskMeta(meta: Readonly<Record<string, unknown>>): AskMeta {
  return {
    user: textIn(meta, 'greenroom/user', MOST_USER),
    key: textIn(meta, 'greenroom/idempotency-key', MOST_KEY),
    depth: depthIn(meta['greenroom/depth']),
  }
}

function textIn(meta: Readonly<Record<string, unknown>>, name: string, most: number): string | null {
  const value = meta[name]
  if (value === undefined || value === null) return null
  const where = `_meta["${name}"]`
  if (typeof value !== 'string' || value === '') return badRequest(`${where}: must be a string that is not empty`)
  return [...value].length <= most ? value : badRequest(`${where}: must have at most ${most} characters`)
}

function depthIn(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const where = '_meta["greenroom/depth"]'
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1)
    return badRequest(`${where}: must be a whole number of 1 or more`)
  if (value > MOST_DEPTH) badRequest(`Agents asked agents ${value} times in a row; ${MOST_DEPTH} are allowed.`)
  return value
}
