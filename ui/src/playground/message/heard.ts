/** The words about a reply for those who hear the page. */
import { useEffect, useState } from 'react'
import { plural } from '../../blocks/words.ts'
import type { Conversation } from '../transcript/branches.ts'

type Message = Conversation['path'][number]

/**
 * Returns what a screen reader says of the reply that has ended while the page was open: how it has, and its text. What is stored
 * may be read a moment after the end: until then the last message is an earlier one.
 */
export function useHeard(isIdle: boolean, last: Message | undefined): string {
  const [ran, setRan] = useState<{ after: string | null } | null>(null)
  const [heard, setHeard] = useState('')
  useEffect(() => {
    if (!isIdle) setRan((known) => known ?? { after: last && last.status !== 'streaming' ? last.id : null })
    else if (ran && last?.role === 'assistant' && last.status !== 'streaming' && last.id !== ran.after) {
      setRan(null)
      setHeard(heardOf(last))
    }
  }, [isIdle, ran, last])
  return heard
}

const ends: Partial<Record<NonNullable<Message['finishReason']>, string>> = {
  length: 'Reply cut off',
  content_filter: 'Reply stopped by the content filter',
  cancelled: 'Reply stopped',
  tool_calls: 'A tool call needs a decision',
  steered: 'Reply ended for the next message',
  error: 'Reply failed',
}

/** Returns the end in words, then the text. The cause of a failure is an alert of its own. */
function heardOf({ finishReason, content }: Message): string {
  const end = ends[finishReason ?? 'stop'] ?? 'Reply complete'
  const words = content.match(/\S+/g)?.length ?? 0
  return words === 0 ? `${end}.` : `${end}, ${plural(words, 'word')}. ${content}`
}
