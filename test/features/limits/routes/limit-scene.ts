/** Two instances, keys with limits, and every surface that begins a reply. */
import { randomUUID } from 'node:crypto'
import type { Limits } from '../../../../src/actors/ports/index.ts'
import { call } from '../../../http/scene.ts'
import type { TestApp } from '../../../support/app.ts'
import { bearer, type FrontDoor, openFrontDoor, say } from '../../users/access/front-door-scene.ts'

export async function openLimitScene(settings?: Record<string, string>) {
  const door = await openFrontDoor({ ...(settings && { settings }) })
  const { here, there } = door
  const manage = (method: string, path: string, body?: unknown) => call(`${here.url}${path}`, method, body)
  const agent = `/api/v1/agents/${door.agentId}`
  return {
    door,
    manage,
    agent,
    async newKey(limits: Limits | null): Promise<{ id: string; key: string }> {
      const made = await manage('POST', '/api/v1/keys', { name: 'K', scopes: ['deploy'], limits })
      if (made.status !== 201) throw new Error(made.text)
      return made.json
    },
    limitUsers: async (userLimits: Limits | null) => {
      const changed = await manage('PUT', agent, { userLimits })
      if (changed.status !== 200) throw new Error(changed.text)
      return changed.json
    },
    stateless: (key: string, more: object = {}, app: TestApp = here) =>
      door.as(key, 'POST', `${door.deploy()}/chat/completions`, say('Hi', more), app),
    send: (key: string, session: string, more: object = {}, app: TestApp = here) =>
      door.as(key, 'POST', `${door.deploy()}/sessions/${session}/chat/completions`, say('Hi', more), app),
    apps: [here, there] as const,
    close: door.close,
  }
}

export type LimitScene = Awaited<ReturnType<typeof openLimitScene>>

/** Begins a reply on each surface, in turn; the status of each. */
export const surfaces = ({ door, stateless, send }: LimitScene) => ({
  stateless: (key: string) => stateless(key),
  'by model': (key: string) =>
    door.as(key, 'POST', '/api/v1/openai/chat/completions', say('Hi', { model: door.agentId })),
  session: async (key: string) => send(key, await door.session(null)),
  'ai sdk': (key: string) =>
    door.as(key, 'POST', `${door.deploy()}/ai-sdk`, {
      id: randomUUID(),
      trigger: 'submit-message',
      messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    }),
  'ag-ui': (key: string) =>
    door.as(key, 'POST', `${door.deploy()}/ag-ui`, {
      threadId: randomUUID(),
      runId: randomUUID(),
      messages: [{ id: 'm', role: 'user', content: 'Hi' }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    }),
  response: (key: string) => door.as(key, 'POST', `${door.deploy()}/responses`, { input: 'Hi' }),
  'stored nowhere': (key: string) => door.as(key, 'POST', `${door.deploy()}/responses`, { input: 'Hi', store: false }),
  'response by model': (key: string) =>
    door.as(key, 'POST', '/api/v1/openai/responses', { input: 'Hi', model: door.agentId }),
})

export { bearer, type FrontDoor, say }
