/** A model whose turns a seed decides: words, a call, the end, a failure, or silence. */
import type { Model, ModelEvent, Toolbox } from '../../src/actors/ports/index.ts'
import { pause } from '../../src/async/pause.ts'

const usage = { promptTokens: 1, completionTokens: 1 }

function turnOf(random: () => number, turn: number, mayCall: boolean): ModelEvent[] {
  const words = Array.from(
    { length: Math.floor(random() * 5) },
    (_, n): ModelEvent => ({ type: 'text', text: `${n} ` }),
  )
  const kind = random()
  if (kind < 0.5 && turn < 3 && mayCall) {
    const name = random() < 0.6 ? 'plain' : 'risky'
    const call: ModelEvent = { type: 'tool_call', call: { id: `c${turn}`, name, arguments: '{}' } }
    return [...words, call, { type: 'end', reason: 'tool_calls', usage }]
  }
  if (kind < 0.85) return [...words, { type: 'end', reason: 'stop', usage }]
  if (kind > 0.93) return words
  return [...words, { type: 'failed', failure: { code: 'provider_error', message: 'm', detail: 'd' } }]
}

export const simulatedModel = (random: () => number, onTurn: (asked: string) => void): Model => ({
  countTokens: async (texts) => texts.map(({ length }) => length),
  async stream({ messages, tools }, signal, take) {
    onTurn(messages.findLast(({ role }) => role === 'user')?.content ?? '')
    const turns = messages.filter(({ role }) => role === 'tool').length
    const steps = turnOf(random, turns, tools.length > 0)
    for (const step of steps) {
      await pause(random() < 0.1 ? 1500 : random() * 400, signal)
      if (signal.aborted) return
      await take([step])
    }
    const isOver = steps.some(({ type }) => type === 'end' || type === 'failed')
    if (!isOver) await pause(3_600_000, signal)
  },
})

const schema = { description: '', inputSchema: { type: 'object' } }

/** Two tools, of which one waits for an approval. They take their time. */
export const simulatedToolbox = (random: () => number, onCall: (id: string, key: string) => void): Toolbox => ({
  tools: [
    { name: 'plain', ...schema },
    { name: 'risky', ...schema },
  ],
  own: new Map([
    ['plain', { key: 'plain', needsApproval: false }],
    ['risky', { key: 'risky', needsApproval: true }],
  ]),
  async call({ id }, signal, key) {
    onCall(id, key)
    await pause(random() * 300, signal)
    return { ok: true, content: 'result' }
  },
})
