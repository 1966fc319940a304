/** What each model turn of a reply is sent of its conversation, and what the provider counted of it. */
import { type Composed, type Conversation, createComposer, type Summarising } from '../history/conversation.ts'
import { tokensOf, tokensOfAll, tokensOfTools } from '../history/estimate.ts'
import type { ModelMessage, ModelRequest, SentBefore, Shortening, ToolSpec } from '../ports/index.ts'

export interface Told {
  conversation: Conversation
  /** Most tokens of all that stands before the newest message: prompt, tools and parts count. */
  maxTokens: number
  /** A history that comes near them is summarised. Absent when it is cut. */
  compacts?: boolean
}

type Sent = Pick<ModelRequest, 'messages' | 'history' | 'shortening'>

export interface Sending {
  /** `turns`: by this reply, and by those that it continues. */
  next(turns: readonly ModelMessage[]): Sent
  /** The request that the provider was sent at last, and the tokens that it counted. Null when it reported none. */
  counted(request: ModelRequest, promptTokens: number | null): void
  /** What a summary is asked of. Null where none is due. */
  summarising(asking: ModelMessage): Summarising | null
}

/** What prompt and tools take, by the estimate without a correction. */
export const fixedTokens = ({ system, tools }: { system: string | null; tools: readonly ToolSpec[] }): number =>
  tokensOf(system ?? '') + tokensOfTools(tools)

/** A request without a conversation is sent as it is. */
export const sendingAll = (messages: readonly ModelMessage[]): Sending => ({
  next: (turns) => ({ messages: [...messages, ...turns] }),
  counted() {},
  summarising: () => null,
})

export function createSending(
  { conversation, maxTokens }: Told,
  besides: { system: string | null; tools: readonly ToolSpec[] },
  keep: (sent: SentBefore) => void,
): Sending {
  const composer = createComposer(conversation)
  const fixed = fixedTokens(besides)
  const made = new WeakMap<Shortening, Composed>()
  let current = composer.within(maxTokens, fixed)

  function sent(composed: Composed, turns: readonly ModelMessage[], turnTokens: number): Sent {
    const shortening: Shortening = {
      tokens: composed.tokens + (fixed + turnTokens) * composer.correction,
      historyTokens: composed.historyTokens,
      to(historyTokens) {
        const shorter = composer.shortened(historyTokens, composed.start)
        return shorter && sent(shorter, turns, turnTokens)
      },
    }
    made.set(shortening, composed)
    const { messages, history } = composed
    return { messages: [...messages, ...turns], ...(history && { history }), shortening }
  }
  return {
    summarising: (asking) => composer.summarising(maxTokens, fixed, asking),
    next: (turns) => sent(current, turns, tokensOfAll(turns)),
    counted({ shortening }, promptTokens) {
      const composed = shortening && made.get(shortening)
      if (!composed) return
      // What was too much for this model is not sent again within the reply.
      current = composed
      const { from, left } = composed
      keep({ from, left, estimated: Math.round(shortening.tokens / composer.correction), reported: promptTokens })
    },
  }
}
