/** Dynamic registration at an authorization server (contract section 27). */
import { expect, onTestFinished } from 'vitest'
import { createClientRegistry } from '../../../src/features/connections/store/clients.ts'
import { openToolScene } from '../../http/tool-scene.ts'
import { verifies } from '../../verifies.ts'

verifies(
  'contract-27.registration',
  'it is made once over all instances, and on each one connection of the database waits',
  async () => {
    const scene = await openToolScene({ settings: {} })
    onTestFinished(scene.close)
    const { sql } = scene.app
    const serverId = await scene.createMcpServer({ name: 'shop', url: 'https://shop.example/mcp', auth: 'user' })
    const secrets = { seal: (text: string) => text, open: (text: string) => text }
    const held = Promise.withResolvers<void>()
    let registrations = 0
    const register = async () => {
      registrations += 1
      await held.promise
      return { client_id: `client ${registrations}` }
    }
    const of = { serverId, issuer: 'https://as.example', redirectUri: 'https://chat.example/api/oauth/callback' }
    const instances = [createClientRegistry(sql, secrets), createClientRegistry(sql, secrets)]
    const clients = instances.flatMap((registry) => Array.from({ length: 4 }, () => registry.client(of, register)))
    const inTransactions = async () => {
      const [row] = await sql<{ n: number }[]>`
        select count(*)::integer as n from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()
           and (state like 'idle in transaction%' or wait_event = 'advisory')`
      return row?.n
    }
    await expect.poll(inTransactions).toBe(2)
    held.resolve()
    expect(await Promise.all(clients)).toEqual(clients.map(() => ({ client_id: 'client 1' })))
    expect([registrations, await instances[0]?.client(of, register)]).toEqual([1, { client_id: 'client 1' }])
  },
)
