import { afterAll, expect } from 'vitest'
import { call } from '../../../http/scene.ts'
import { verifies } from '../../../verifies.ts'
import { openFrontDoor } from '../../users/access/front-door-scene.ts'

const door = await openFrontDoor({ instances: 1 })
afterAll(door.close)

const manage = (method: string, path: string, body?: unknown) => call(`${door.here.url}${path}`, method, body)

verifies('contract-35.past-expiry', 'one in the past is 400, but where it is stored already', async () => {
  const past = new Date(Date.now() - 1000).toISOString()
  const make = (expiresAt: string) => manage('POST', '/api/v1/keys', { name: 'K', scopes: ['deploy'], expiresAt })
  const refused = await make(past)
  expect([refused.status, refused.json.message]).toEqual([400, 'expiresAt: must be in the future'])
  const { id } = (await make('2099-01-31T00:00:00Z')).json
  const path = `/api/v1/keys/${id}`
  expect((await manage('PUT', path, { expiresAt: past })).status).toBe(400)
  expect((await manage('GET', path)).json.expiresAt).toBe('2099-01-31T00:00:00.000Z')
  await door.sql`update keys set expires_at = ${past}::text::timestamptz where id = ${id}`
  const stored = (await manage('GET', path)).json
  expect((await manage('PUT', path, { ...stored, name: 'Expired' })).status).toBe(200)
})
