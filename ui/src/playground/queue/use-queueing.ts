/** Sends what is typed while a reply runs: it waits in the session's queue. */
import { useState } from 'react'
import type { Problem } from '../chat-notices.tsx'
import { contentOf, type useAttachments } from '../composer/attachments.ts'
import type { useDraft } from '../composer/use-draft.ts'
import type { ChatRequest } from '../connection/connection-machine.ts'
import { queueMessage } from './queue.ts'

interface QueueingOptions {
  agentId: string
  /** Null while the server has no session. */
  sessionId: string | null
  draft: ReturnType<typeof useDraft>
  attachments: ReturnType<typeof useAttachments>
}

export function useQueueing({ agentId, sessionId, draft, attachments }: QueueingOptions) {
  const [problem, setProblem] = useState<Problem | null>(null)
  return {
    problem,
    dismiss: () => setProblem(null),
    /** `settings`: its place, and what the request overrides. */
    send(settings: Partial<ChatRequest>, steers: boolean): void {
      if (sessionId === null) return
      const { text } = draft
      const { files } = attachments
      draft.clearShown()
      attachments.clear()
      const queue = async () => {
        const message = await contentOf(text, files)
        await queueMessage(agentId, sessionId, { message, ...settings }, steers ? 'steer' : 'enqueue')
        draft.accepted()
        attachments.accepted()
      }
      queue().catch((error: unknown) => setProblem({ error, text, isQueued: true }))
    },
  }
}
