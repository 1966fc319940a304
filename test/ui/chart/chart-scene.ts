/** What the tests of the state chart share: sessions of the demo model, and what is lit. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { createAgent, type TestApp } from '../../support/app.ts'

export interface ChartScene {
  agentId: string
  /** Sends a message and waits for the end of its reply. Resolves to the session's id. */
  say(message: string, sessionId?: string): Promise<string>
  /** Sends a message and does not wait for the reply's end. */
  begin(message: string, sessionId?: string): Promise<string>
  cancel(sessionId: string): Promise<void>
  /** `?agent=…&session=…` */
  query(sessionId: string): string
}

export async function chartScene(app: TestApp): Promise<ChartScene> {
  const { agentId } = await createAgent(app)
  const path = { agent_id: agentId }
  const tools = { mcpServers: [], httpToolIds: [], builtInToolIds: ['current_time'] }
  await app.client.PUT('/api/v1/agents/{agent_id}/tools', { params: { path }, body: tools })
  const send = async (message: string, sessionId?: string) => {
    const answer = await fetch(`${app.url}/api/v1/agents/${agentId}/playground/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message, sessionId }),
    })
    return { id: answer.headers.get('x-session-id') ?? '', answer }
  }
  return {
    agentId,
    async say(message, sessionId) {
      const { id, answer } = await send(message, sessionId)
      await answer.text()
      return id
    },
    async begin(message, sessionId) {
      const { id, answer } = await send(message, sessionId)
      await answer.body?.cancel()
      return id
    },
    async cancel(sessionId) {
      const params = { path: { ...path, session_id: sessionId } }
      await app.client.POST('/api/v1/agents/{agent_id}/playground/sessions/{session_id}/cancel', { params })
    },
    query: (sessionId) => `?agent=${agentId}&session=${sessionId}`,
  }
}

/** A busy machine draws late. */
export const until = <Value>(read: () => Value) => expect.poll(read)

/** The innermost state that is lit. */
export const lit = (page: Page) => page.locator('button[data-state][data-lit]')

/** Watches from now on which innermost states are lit, one after the other. Resolves to the way to read them. */
export async function watchLit(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(`{
    window.litStates = []
    const look = () => {
      const id = document.querySelector('button[data-state][data-lit]')?.dataset.state
      if (id && window.litStates.at(-1) !== id) window.litStates.push(id)
    }
    look()
    const watched = { subtree: true, childList: true, attributes: true, attributeFilter: ['data-lit'] }
    new MutationObserver(look).observe(document.body, watched)
  }`)
  return () => page.evaluate<string[]>('window.litStates')
}
