/** Two instances on one database, and an agent whose versions the tests make. */

import { call } from '../../http/scene.ts'
import { createAgent, startTestApp } from '../../support/app.ts'
import { freshDatabase } from '../../support/database.ts'
import { startUpstream } from '../../support/network/upstream.ts'

export type VersionScene = Awaited<ReturnType<typeof openVersionScene>>

/** Close it after the file's tests. `settings`: of both instances. */
export async function openVersionScene({ settings = {} }: { settings?: Record<string, string> } = {}) {
  const database = await freshDatabase()
  const up = await startUpstream({ reportsUsage: true })
  const here = await startTestApp({ database, settings })
  const there = await startTestApp({ database, settings })
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}, app = here) =>
    call(`${app.url}${path}`, method, body, headers)
  const made = async (path: string, body: object): Promise<string> => (await ask('POST', path, body)).json.id
  const newAgent = async (fields: { system?: string | null } = {}) => {
    const system = fields.system === undefined ? 'You are v1.' : fields.system
    const { agentId, providerId } = await createAgent(here, { type: 'openai-compatible', baseUrl: up.url, system })
    const path = `/api/v1/agents/${agentId}`
    return {
      agentId,
      providerId,
      path,
      put: (body: object, query = '', headers = {}) => ask('PUT', `${path}${query}`, body, headers),
      get: async (query = '') => (await ask('GET', `${path}${query}`)).json,
      putTools: (body: object, query = '') => ask('PUT', `${path}/tools${query}`, body),
      getTools: async (query = '') => (await ask('GET', `${path}/tools${query}`)).json,
      version: async (n: number | string) => (await ask('GET', `${path}/versions/${n}`)).json,
      versions: async () => (await ask('GET', `${path}/versions?limit=100`)).json.versions,
      publish: (n: number | string, body?: object) => ask('POST', `${path}/versions/${n}/publish`, body),
      publishDraft: (body?: object, headers = {}) => ask('POST', `${path}/publish`, body, headers),
    }
  }
  return {
    ...{ database, up, here, there, ask, made, newAgent },
    async close() {
      await Promise.all([here.stop(), there.stop()])
      await up.close()
      await database.drop()
    },
  }
}
