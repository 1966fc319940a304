/** Tokens of a reply's model turns: what the provider reported, an estimate where it reported nothing. */
import type { Model, ModelEvent, ModelMessage, ModelRequest } from '../ports/index.ts'
import type { Counted, Usage } from '../reply/reply-event.ts'

/** A model turn, as far as it has come. */
export interface CountedTurn {
  text: string
  /** Vendors bill it like text. */
  reasoning: string
  /** The provider's count so far: less than the whole. */
  counted: Counted
  end: Extract<ModelEvent, { type: 'end' }> | null
}

const details = ['cachedTokens', 'cacheWriteTokens', 'reasoningTokens'] as const

/**
 * Adds the details of one turn. A detail that its provider does not report adds nothing, and is absent when none
 * reports it.
 */
function addDetails(sum: Counted, turn: Counted): void {
  for (const name of details) {
    const count = turn[name]
    if (count !== undefined) sum[name] = (sum[name] ?? 0) + count
  }
}

export const nothingUsed: Usage = { promptTokens: 0, completionTokens: 0, estimated: false }

export type Tally = ReturnType<typeof createTally>

/** Creates the count of a reply's tokens. `before`: its use in another instance. */
export function createTally(request: Omit<ModelRequest, 'tools'>, model: Model, before: Usage = nothingUsed) {
  const { estimated: wasEstimated, ...used } = before
  const reported: Counted = { ...used }
  const unreported = new Map<CountedTurn, readonly ModelMessage[]>()
  /** The counts by text: a reply that is counted with each of its turns counts every text once. */
  const tokens = new Map<string, number>()
  async function count(texts: readonly string[]): Promise<void> {
    const uncounted = [...new Set(texts)].filter((text) => !tokens.has(text))
    if (uncounted.length === 0) return
    const counts = await model.countTokens(uncounted)
    uncounted.forEach((text, index) => {
      tokens.set(text, counts[index] ?? 0)
    })
  }
  return {
    begin: (messages: readonly ModelMessage[], turn: CountedTurn) => void unreported.set(turn, messages),
    end(turn: CountedTurn): void {
      if (!turn.end?.usage) return
      unreported.delete(turn)
      reported.promptTokens += turn.end.usage.promptTokens
      reported.completionTokens += turn.end.usage.completionTokens
      addDetails(reported, turn.end.usage)
    },
    async usage(): Promise<Usage> {
      const sum = { ...reported }
      // A copy: a turn that was stopped may still add to its text while its tokens are counted.
      const turns = [...unreported].map(([{ text, reasoning, counted }, messages]) => {
        const prompt = counted.promptTokens > 0 ? [] : [request.system ?? '', ...messages.map(({ content }) => content)]
        return { written: reasoning === '' ? [text] : [text, reasoning], counted, prompt }
      })
      if (turns.length === 0) return { ...sum, estimated: wasEstimated }
      // The prompt of a turn repeats all texts before it.
      await count(turns.flatMap(({ written, prompt }) => [...written, ...prompt]))
      const sumOf = (some: readonly string[]) => some.reduce((sum, one) => sum + (tokens.get(one) ?? 0), 0)
      for (const { written, counted, prompt } of turns) {
        sum.promptTokens += counted.promptTokens + sumOf(prompt)
        sum.completionTokens += Math.max(counted.completionTokens, sumOf(written))
        addDetails(sum, counted)
      }
      return { ...sum, estimated: true }
    },
  }
}
