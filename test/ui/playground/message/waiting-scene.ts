/** A playground whose agent asks before it calls its tool, "pay". */
import { beforeEach } from 'vitest'
import type { TestPage } from '../../browser.ts'
import { startPlayground } from '../playground-scene.ts'

export async function startWaiting() {
  const scene = await startPlayground()
  const { agentId, app, up } = scene

  // biome-ignore lint/suspicious/noExplicitAny: what the server answers is what the tests look at
  const api = async (method: string, path: string, body: unknown): Promise<any> => {
    const response = await fetch(`${app.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(await response.text())
    return Object(await response.json())
  }
  const inputSchema = {
    type: 'object',
    properties: { amount: { type: 'integer' }, to: { type: 'string' } },
    required: ['amount'],
  }
  // Refused: what it answers does not matter here.
  const tool = { name: 'pay', description: 'Pays.', method: 'POST', url: 'http://127.0.0.1:9/pay', inputSchema }
  const { id: payId } = await api('POST', '/api/v1/http-tools', tool)
  // Each test finds its agent asking, and nothing that another one has left waiting.
  beforeEach(async () => {
    await api('PUT', `/api/v1/agents/${agentId}/tools`, { httpToolIds: [payId], approvals: ['pay'] })
    await app.sql`delete from sessions where status = 'waiting'`
  })

  const asksToPay = (...ids: string[]) =>
    up.next(async (call) => {
      for (const [index, id] of ids.entries()) {
        await call.toolCall({ index, id, name: 'pay', arguments: '{"amount":5,"to":"Ann"}' })
      }
      await call.finish('tool_calls')
    })
  return {
    ...scene,
    api,
    payId,
    asksToPay,
    /** A session whose reply asks to pay, once for each id: its id. */
    async waitingSession(text: string, ...ids: string[]): Promise<string> {
      asksToPay('c1', ...ids)
      const { id } = await api('POST', `/api/v1/agents/${agentId}/deploy/sessions`, {})
      const completions = `/api/v1/agents/${agentId}/deploy/sessions/${id}/chat/completions`
      await api('POST', completions, { messages: [{ role: 'user', content: text }] })
      return id
    },
    /** What the model was told of its calls. */
    told: async (call: number) =>
      (await up.call(call)).body.messages.filter(({ role }: { role: string }) => role === 'tool'),
  }
}

/** The arguments that a call was approved with instead of its own, of what the model was told of it. */
export function approvedWith({ content }: { content: string }): unknown {
  const [, text = ''] = /arguments: (\{.*\})/.exec(content) ?? []
  return JSON.parse(text)
}

/** From now on the page takes each key for pressed `laterMs` later than it was. Leaving the page ends this. */
export const keysCome = (page: TestPage, laterMs: number): Promise<unknown> =>
  page.evaluate(
    `void Object.defineProperty(Event.prototype, 'timeStamp', { configurable: true, get: () => performance.now() + ${laterMs} })`,
  )
