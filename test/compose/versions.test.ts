/** Contract section 26: an instance that a newer version has left behind says so, and takes no more. */
import { expect } from 'vitest'
import { createAgent, startTestApp } from '../support/app.ts'
import { verifies } from '../verifies.ts'

verifies('contract-26.versions', 'once the database is beyond it: not ready, and no reply is begun', async () => {
  await using app = await startTestApp()
  const { agentId } = await createAgent(app)
  const send = async () => {
    const response = await fetch(`${app.url}/api/v1/agents/${agentId}/deploy/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
    })
    await response.text()
    return response.status
  }
  const ready = async () => (await fetch(`${app.url}/readyz`)).status
  expect([await ready(), await send()]).toEqual([200, 200])
  await app.sql`update compatibility set oldest = 100000`
  await expect.poll(ready).toBe(503)
  expect([await send(), (await fetch(`${app.url}/livez`)).status]).toEqual([503, 200])
})
