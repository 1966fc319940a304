/** Contract sections 1 and 11: client secrets follow the rotation of SECRET_KEY. */
import { expect } from 'vitest'
import { call } from '../../../http/scene.ts'
import { createAgent, startTestApp } from '../../../support/app.ts'
import { freshDatabase } from '../../../support/database.ts'
import { verifies } from '../../../verifies.ts'
import { bearer, partsOf } from './front-door-scene.ts'

verifies(
  'contract-11.secrets',
  'old,new, then new,old, then new: none is refused before its key has gone',
  async () => {
    await using stack = new AsyncDisposableStack()
    const database = await freshDatabase()
    stack.defer(() => database.drop())
    const { agentId } = await createAgent(database)
    const deploy = `/api/v1/agents/${agentId}/deploy`
    const secrets: string[] = []
    const kids: unknown[] = []
    /** Statuses of all secrets so far, and of one more. */
    const step = async (SECRET_KEY: string): Promise<number[]> => {
      await using app = await startTestApp({ database, settings: { SECRET_KEY } })
      const { json } = await call(`${app.url}${deploy}/client_secrets`, 'POST', { user: 'anna' })
      secrets.push(json.value)
      kids.push((partsOf(json.value).header as { kid: string }).kid)
      const statuses: number[] = []
      for (const one of secrets) {
        statuses.push((await call(`${app.url}${deploy}/sessions`, 'GET', undefined, bearer(one))).status)
      }
      return statuses
    }
    expect(await step('old')).toEqual([200])
    expect(await step('old,new')).toEqual([200, 200])
    expect(await step('new,old')).toEqual([200, 200, 200])
    expect(await step('new')).toEqual([401, 401, 200, 200])
    expect(kids).toEqual([kids[0], kids[0], kids[2], kids[2]])
    expect(kids[0]).not.toBe(kids[2])
  },
)
