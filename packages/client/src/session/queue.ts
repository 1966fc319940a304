/** Messages that wait for the replies before them, of either API. */
import type { Calls } from '../calls.ts'
import type { MessageContent } from '../message-content.ts'
import type { components } from '../schema.ts'

export type OnBusy = NonNullable<components['schemas']['SessionCompletionRequest']['on_busy']>

/** A message that waits for the replies before it. `position`: 1 is next. */
export interface QueuedMessage {
  id: string
  content: string
  createdAt: string
  position: number
}

interface Place {
  calls: Calls
  agentId: string
  /** Returns the session's id. Null until it has been created. */
  known(): string | null
}

/** Returns the queue's methods of a session, for either API. */
export const queueing = <Options extends object, Sent>(
  { calls, agentId, known }: Place,
  api: 'deploy' | 'playground',
  send: (content: MessageContent, options: Options & { onBusy?: OnBusy }) => Sent,
) => {
  const path = `/api/v1/agents/{agent_id}/${api}/sessions/{session_id}/queue` as const
  const names = (session_id: string) => ({ agent_id: agentId, session_id })
  return {
    enqueue: (content: MessageContent, options?: Options) =>
      send(content, { ...(options as Options), onBusy: 'enqueue' }),
    steer: (content: MessageContent, options?: Options) => send(content, { ...(options as Options), onBusy: 'steer' }),
    async queue(): Promise<QueuedMessage[]> {
      const id = known()
      if (id === null) return []
      const { queue } = await calls.GET(path, { params: { path: names(id) } })
      return queue.map((message) => ({
        id: message.id,
        content: message.content,
        createdAt: 'createdAt' in message ? message.createdAt : message.created_at,
        position: message.position,
      }))
    },
    async dequeue(message_id: string): Promise<void> {
      const id = known()
      if (id === null) return
      await calls.DELETE(`${path}/{message_id}`, { params: { path: { ...names(id), message_id } } })
    },
  }
}
