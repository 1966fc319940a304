/** The product with agents that ask each other. */

import type { SceneOptions } from '../../http/scene.ts'
import { asks, openToolScene, says } from '../../http/tool-scene.ts'
import type { UpstreamCall } from '../../support/network/upstream.ts'

/** A model's call of an agent's tool. */
export const asking = (name: string, message: string) => ({ name, arguments: JSON.stringify({ message }) })

export type TreeScene = Awaited<ReturnType<typeof openTreeScene>>

/** The scene's agent is the desk, which asks billing; each agent's model is known by its name. */
export async function openTreeScene(options: SceneOptions = {}) {
  const scene = await openToolScene(options)
  const scripts = new Map<string, ((call: UpstreamCall) => unknown)[]>()
  scene.up.always((call) => {
    const next = scripts.get(call.body.model)?.shift()
    return next ? next(call) : says(`No script for ${call.body.model}.`)(call)
  })
  const newAgent = async (name: string, fields: object = {}): Promise<string> => {
    const body = { name, providerId: scene.providerId, model: name, ...fields }
    const { status, json, text } = await scene.call('POST', '/api/v1/agents', body)
    if (status !== 201) throw new Error(text)
    return json.id
  }
  return {
    ...scene,
    newAgent,
    /** The next answers of the model of this name, one for each of its calls. */
    plays(model: string, ...steps: ((call: UpstreamCall) => unknown)[]): void {
      scripts.set(model, [...(scripts.get(model) ?? []), ...steps])
    },
    toolsOf: (id: string, agentTools: object[], more: object = {}) =>
      scene.call('PUT', `/api/v1/agents/${id}/tools`, { agentTools, ...more }),
    sessionOf: (agentId: string, id: string) => scene.call('GET', `/api/v1/agents/${agentId}/deploy/sessions/${id}`),
    messagesOf: async (agentId: string, id: string) =>
      (await scene.call('GET', `/api/v1/agents/${agentId}/deploy/sessions/${id}/messages`)).json.messages,
    ask: async (agentId: string, text: string, fields: object = {}) => {
      const sessions = `/api/v1/agents/${agentId}/deploy/sessions`
      const { json: session } = await scene.call('POST', sessions, fields)
      const path = `${sessions}/${session.id}/chat/completions`
      const reply = await scene.call('POST', path, { messages: [{ role: 'user', content: text }] })
      return { session: session.id as string, reply, path }
    },
  }
}

export { asks, says }
