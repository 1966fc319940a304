/** How much of the conversation its model no longer sees. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { requestsOf } from '../../traces/queries.ts'
import type { ModelRequest } from '../../traces/types.ts'
import type { Message } from '../queries.ts'

export type LeftOut = ModelRequest['left']

const nothing: LeftOut = { messages: 0, tokens: 0, reason: null }

/**
 * Returns the earlier messages that the newest reply's last request left out. Its first request may have been for a
 * summary.
 */
export function useLeftOut(path: readonly Message[]): LeftOut {
  const last = path.findLast(({ role, status }) => role === 'assistant' && status !== 'streaming')
  // All texts are looked at: not again with each frame of a running reply.
  const enabled = useMemo(() => last !== undefined && mayHaveLeft(path, last), [path, last])
  const { data } = useQuery({ ...requestsOf(last?.id ?? ''), enabled })
  return data?.at(-1)?.left ?? nothing
}

/**
 * Returns whether the path looks longer than what was sent: a request may hold as much as the conversation, and nearly
 * all send all of it.
 */
function mayHaveLeft(path: readonly Message[], last: Message): boolean {
  const sent = last.usage?.promptTokens
  if (sent === undefined || path.length < 3) return false
  const before = path.slice(0, path.indexOf(last))
  return before.reduce((tokens, { content }) => tokens + roughTokens(content), 0) > sent * 0.9
}

/**
 * Estimates tokens: four letters of a Latin script make a token, one of most other scripts. It counts code units:
 * finding letters by their script would make a list of all letters of a Japanese text.
 */
function roughTokens(text: string): number {
  let others = 0
  for (let at = 0; at < text.length; at += 1) if (!isLatin(text.charCodeAt(at))) others += 1
  return others + (text.length - others) / 4
}

const isLatin = (unit: number): boolean => unit < 0x250 || (unit >= 0x1e00 && unit < 0x1f00)
