/** The result of a call that an agent answers, for the model to read (contract section 30). */
import type { ToolAnswer } from '../../actors/ports/index.ts'
import type { ChildState, Opened } from './store/children.ts'

/** Bytes of a result, at most. */
const MOST_BYTES = 256 * 1024

const unopened: Record<Exclude<Opened, 'open' | `limit ${string}`>, string> = {
  over: 'The agent was not asked: the reply that asks has ended.',
  too_many: 'The agent was not asked: a message may lead to at most 100 calls of agents.',
  too_deep: 'The agent was not asked: agents may ask agents at most three calls deep.',
  no_agent: 'The agent was not asked: it does not exist any more.',
  session_full: 'The agent was not asked: its session would hold more than MAX_SESSION_BYTES allows.',
  user_full: 'The agent was not asked: the sessions of this user would hold more than MAX_USER_BYTES allows.',
}

export const notOpened = (why: Exclude<Opened, 'open'>): ToolAnswer =>
  failed(isLimit(why) ? limitWords(why) : unopened[why])

const isLimit = (why: string): why is `limit ${string}` => why.startsWith('limit ')

function limitWords(why: `limit ${string}`): string {
  const [, of, limit, most] = why.split(' ')
  const what = limit === 'tokensPerDay' ? `${most} tokens a day` : `a cost of ${most} a month`
  return `The agent was not asked: the limit of the ${of}, ${what}, is used up.`
}

export const failed = (content: string): ToolAnswer => ({ ok: false, content })

export function resultOf({ state, content, finishReason, errorCode, errorMessage }: ChildState): ToolAnswer {
  if (state === 'waiting') return { ok: false, content: '', waits: 'child' }
  if (state === 'removed') return failed("The agent's session was asked to answer nothing: its message was removed.")
  const text = cut(content ?? '')
  if (state === 'deleted') return behind("The agent's session was deleted.", text)
  if (errorCode !== null) return behind(`The agent's reply failed: ${errorCode}: ${errorMessage ?? ''}`, text)
  if (finishReason === 'cancelled') return behind("The agent's reply was cancelled.", text)
  return { ok: true, content: text === '' ? 'The agent gave an empty answer.' : text }
}

const behind = (sentence: string, text: string): ToolAnswer =>
  failed(text === '' ? sentence : `${sentence} Its text so far:\n${text}`)

/** Cuts a text at the limit, between two characters. */
function cut(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= MOST_BYTES) return text
  let end = MOST_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end).toString()
}
