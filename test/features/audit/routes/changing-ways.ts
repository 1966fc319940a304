/** How each operation of management that changes a record is made to change one. */
import { type Answer, call } from '../../../http/scene.ts'
import type { FrontDoor } from '../../users/access/front-door-scene.ts'

export const provider = { name: 'P', providerType: 'openai', apiKey: 'sk-a-secret-0123456789' }
export const tool = { name: 't', description: 'd', method: 'GET', url: 'https://example.com/' }
export const server = { name: 's', transport: 'sse', url: 'https://example.com/' }
export const webhook = () => ({ name: crypto.randomUUID(), url: 'http://127.0.0.1:1/', events: ['reply.completed'] })

export type Manager = {
  readonly door: FrontDoor
  readonly logIn: () => Promise<Answer>
  readonly manage: (method: string, path: string, body?: unknown) => Promise<Answer>
  /** Creates a record, and returns its id. */
  readonly made: (path: string, body: object) => Promise<string>
  readonly newProvider: () => Promise<string>
}

/** Returns one call for each operation, by the operation's id. */
export function changingWays({
  door,
  logIn,
  manage,
  made,
  newProvider,
}: Manager): Record<string, () => Promise<Answer>> {
  const answered = async () => {
    const id = await door.newAgent()
    door.says('ok')
    const path = `${door.deploy(id)}/sessions/${await door.session(null, id)}/chat/completions`
    await door.asKey('POST', path, { messages: [{ role: 'user', content: 'a' }] })
    return id
  }
  const drafted = async () => {
    const id = await door.newAgent()
    await manage('PUT', `/api/v1/agents/${id}?draft=true`, { model: 'm2' })
    return id
  }
  return {
    createProvider: () => manage('POST', '/api/v1/settings/providers', { ...provider, name: crypto.randomUUID() }),
    updateProvider: async () =>
      manage('PUT', `/api/v1/settings/providers/${await newProvider()}`, { apiKey: 'sk-another-0123456789' }),
    deleteProvider: async () => manage('DELETE', `/api/v1/settings/providers/${await newProvider()}`),
    createPrompt: () => manage('POST', '/api/v1/prompts', { name: 'n', content: 'c' }),
    updatePrompt: async () =>
      manage('PUT', `/api/v1/prompts/${await made('/api/v1/prompts', { name: 'n', content: 'c' })}`, { content: 'd' }),
    deletePrompt: async () =>
      manage('DELETE', `/api/v1/prompts/${await made('/api/v1/prompts', { name: 'n', content: 'c' })}`),
    createAgent: async () =>
      manage('POST', '/api/v1/agents', { name: 'a', model: 'm', providerId: await newProvider() }),
    updateAgent: async () => manage('PUT', `/api/v1/agents/${await door.newAgent()}`, { model: 'm2' }),
    deleteAgent: async () => manage('DELETE', `/api/v1/agents/${await door.newAgent()}`),
    publishAgentVersion: async () => {
      const id = await door.newAgent()
      await manage('PUT', `/api/v1/agents/${id}`, { model: 'm2' })
      return await manage('POST', `/api/v1/agents/${id}/versions/1/publish`)
    },
    publishAgent: async () => manage('POST', `/api/v1/agents/${await drafted()}/publish`),
    deleteAgentDraft: async () => manage('DELETE', `/api/v1/agents/${await drafted()}/draft`),
    createReplay: async () => manage('POST', `/api/v1/agents/${await answered()}/replays`, { version: 1, replies: {} }),
    async deleteReplay() {
      const path = `/api/v1/agents/${await answered()}/replays`
      const { id } = (await manage('POST', path, { version: 1, replies: {} })).json
      return await manage('DELETE', `${path}/${id}`)
    },
    updateAgentTools: () => manage('PUT', `/api/v1/agents/${door.agentId}/tools`, { builtInToolIds: ['web_fetch'] }),
    createHttpTool: () => manage('POST', '/api/v1/http-tools', tool),
    updateHttpTool: async () =>
      manage('PUT', `/api/v1/http-tools/${await made('/api/v1/http-tools', tool)}`, { name: 'u' }),
    deleteHttpTool: async () => manage('DELETE', `/api/v1/http-tools/${await made('/api/v1/http-tools', tool)}`),
    createMcpServer: () => manage('POST', '/api/v1/mcp-servers', server),
    updateMcpServer: async () =>
      manage('PUT', `/api/v1/mcp-servers/${await made('/api/v1/mcp-servers', server)}`, { sendUser: true }),
    deleteMcpServer: async () => manage('DELETE', `/api/v1/mcp-servers/${await made('/api/v1/mcp-servers', server)}`),
    replacePrices: () => manage('PUT', '/api/v1/settings/prices', { currency: '€', prices: [] }),
    createKey: () => manage('POST', '/api/v1/keys', { name: 'k', scopes: ['deploy'] }),
    updateKey: async () =>
      manage('PUT', `/api/v1/keys/${await made('/api/v1/keys', { name: 'k', scopes: ['deploy'] })}`, { name: 'l' }),
    deleteKey: async () =>
      manage('DELETE', `/api/v1/keys/${await made('/api/v1/keys', { name: 'k', scopes: ['deploy'] })}`),
    createWebhook: () => manage('POST', '/api/v1/webhooks', webhook()),
    updateWebhook: async () =>
      manage('PUT', `/api/v1/webhooks/${await made('/api/v1/webhooks', webhook())}`, { enabled: false }),
    deleteWebhook: async () => manage('DELETE', `/api/v1/webhooks/${await made('/api/v1/webhooks', webhook())}`),
    replaceWebhookSecret: async () =>
      manage('POST', `/api/v1/webhooks/${await made('/api/v1/webhooks', webhook())}/secret`),
    importConfiguration: () =>
      manage('POST', '/api/v1/import', { version: 1, prompts: [{ name: 'imported', content: crypto.randomUUID() }] }),
    exportConfiguration: () => manage('GET', '/api/v1/export'),
    login: () => logIn(),
    async logout() {
      const own = (await logIn()).headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
      return await call(`${door.here.url}/api/auth/logout`, 'POST', undefined, { cookie: own })
    },
  }
}
