/** A path of management that has an agent's name in place of its id (contract section 2; issue 69). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { verifies } from '../../verifies.ts'
import { type Server, startServer } from './server.ts'

let db: FreshDatabase
let server: Server
const ids: string[] = []

beforeAll(async () => {
  db = await freshDatabase()
  server = await startServer({ sql: db.sql })
  const provider = { name: 'P', providerType: 'openai', apiKey: 'sk-0123456789' }
  const { json } = await server.call('POST', '/api/v1/settings/providers', provider)
  for (const name of ['Support desk', 'Twin', 'Twin']) {
    const agent = { name, providerId: json.id, model: 'm' }
    ids.push((await server.call('POST', '/api/v1/agents', agent)).json.id)
  }
})
afterAll(async () => {
  await server.close()
  await db.drop()
})

const wanted = 'There is no such agent: the path takes its id.'
const refusalOf = async (method: string, path: string, body?: object) => {
  const { status, json } = await server.call(method, `/api/v1/agents/${path}`, body)
  return { status, message: json.message }
}

verifies(
  'contract-2.errors',
  'an agent’s name in a path is 404 that says that ids are wanted, and names the agent’s',
  async () => {
    const told = { status: 404, message: `${wanted} The agent of this name is ${ids[0]}.` }
    expect(await refusalOf('GET', 'Support%20desk')).toEqual(told)
    expect(await refusalOf('PUT', 'Support%20desk', { model: 'm2' })).toEqual(told)
    expect(await refusalOf('DELETE', 'Support%20desk')).toEqual(told)
    expect(await refusalOf('GET', 'Support%20desk/tools')).toEqual(told)
    expect(await refusalOf('GET', 'Twin')).toEqual({ status: 404, message: `${wanted} Several agents have this name.` })
    expect(await refusalOf('GET', 'nobody')).toEqual({ status: 404, message: wanted })
    expect(await refusalOf('GET', '%00')).toEqual({ status: 404, message: wanted })
    expect(await refusalOf('GET', randomUUID())).toEqual({ status: 404, message: 'There is no such agent.' })
    expect((await server.call('GET', `/api/v1/agents/${ids[0]}`)).json.name).toBe('Support desk')
  },
)

verifies('contract-2.errors', 'without a login nobody learns an agent’s id by its name', async () => {
  const closed = await startServer({ sql: db.sql, credentials: [{ username: 'ann', password: 'secret' }] })
  const { status, text } = await closed.call('GET', '/api/v1/agents/Support%20desk')
  await closed.close()
  expect([status, text.includes(ids[0] ?? '')]).toEqual([401, false])
})
