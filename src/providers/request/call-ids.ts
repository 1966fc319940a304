/** Ids of tool calls in a request. Vendors refuse a request in which they repeat. Pure. */

import { createHash } from 'node:crypto'
import type { ModelMessage } from '../../actors/ports/index.ts'
import { openCalls } from '../../untrusted/open-calls.ts'

type Answer = Extract<ModelMessage, { role: 'assistant' }>

/** Converts an id to characters that every vendor accepts. */
export const plainId = (id: string): string =>
  /^[a-zA-Z0-9_-]{1,64}$/.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 16)}`

/** Shortens an id: OpenAI's chat completions refuse more than 40 characters. The same id gives the same result. */
export function idWithin(length: number, id: string): string {
  const known = id || plainId(id)
  return known.length <= length ? known : `call_${createHash('sha256').update(known).digest('hex').slice(0, 24)}`
}

/**
 * Gives each call an id that is unique in the conversation, in the form that `plain` produces, and gives its result the
 * same id. Ids are unique within a reply already, but replies of one session, and conversations that callers keep,
 * repeat them. `isEchoed`: the vendor gets this turn back unchanged, including ids that do not repeat.
 */
export function withUniqueCallIds(
  messages: readonly ModelMessage[],
  plain: (id: string) => string,
  isEchoed: (answer: Answer) => boolean = () => false,
): readonly ModelMessage[] {
  if (!messages.some((one) => one.role === 'assistant' && one.toolCalls !== undefined)) return messages
  const used = new Set<string>()
  /**
   * The number that the next repetition of an id tries first. When each search began at 2, 11,000 calls of one id took
   * minutes.
   */
  const numbers = new Map<string, number>()
  let open = openCalls<string>()
  const ownId = (id: string, isKept: boolean): string => {
    let own = isKept && id !== '' ? id : plain(id)
    let n = numbers.get(id) ?? 2
    for (; used.has(own); n++) own = plain(`${id}_${n}`)
    numbers.set(id, n)
    used.add(own)
    return own
  }
  return messages.flatMap((message): readonly ModelMessage[] => {
    if (message.role === 'assistant' && message.toolCalls !== undefined) {
      const isKept = isEchoed(message)
      const toolCalls = message.toolCalls.map((call) => ({ ...call, id: ownId(call.id, isKept) }))
      open = openCalls()
      for (const [index, { id: own }] of toolCalls.entries()) open.add(message.toolCalls?.[index]?.id ?? own, own)
      return [{ ...message, toolCalls }]
    }
    if (message.role !== 'tool') return [message]
    const own = open.close(message.toolCallId)
    return own === undefined ? [] : [{ ...message, toolCallId: own }]
  })
}
