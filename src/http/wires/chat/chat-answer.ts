/** A chat completion that is not stored, streamed or whole. */
import type { ReplyInfo } from '../../../actors/ports/index.ts'
import type { Frame, Outcome, ReplyEvent } from '../../../actors/reply/reply-event.ts'
import { completionBody, completionHead, createFrameEncoder, statelessFrame } from './completion-frames.ts'

/** A completion in one format, as frames or as one answer. */
export interface StatelessAnswer<Body> {
  encode(frames: readonly Frame[]): string
  whole(events: readonly ReplyEvent[], outcome: Extract<Outcome, { type: 'finished' }>): Body
}

/** The reply as its format needs it. */
export type StatelessInfo = Pick<ReplyInfo, 'id' | 'createdAt' | 'model'>

/** Returns the writer of the answer. */
export function chatAnswer(info: StatelessInfo): StatelessAnswer<ReturnType<typeof completionBody>> {
  const head = completionHead(info)
  const encoder = createFrameEncoder(head)
  return {
    encode(frames) {
      let text = ''
      for (const frame of frames) text += statelessFrame(encoder, frame)
      return text
    },
    whole(events, { reason, usage, calls = [] }) {
      const answer = { content: '', reasoning: '' }
      let { model } = head
      for (const event of events) {
        switch (event.type) {
          case 'text':
            answer.content += event.text
            break
          case 'reasoning':
            answer.reasoning += event.text
            break
          case 'model':
            model = event.model
            break
          case 'tool_call':
          case 'tool_begun':
          case 'tool_asked':
          case 'tool_result':
          case 'tool_unknown':
            break // `calls` are those that are shown
          default:
            event satisfies never
        }
      }
      return completionBody({ ...head, model }, { ...answer, calls }, reason, usage)
    },
  }
}
