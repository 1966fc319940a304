/** Contract section 11 and 26: the order of client secrets and revocations in a database that was restored. */
import { expect } from 'vitest'
import { passEarlierNumbers } from '../../../../src/features/users/store/secret-numbers.ts'
import { numberSecret, revokeUser } from '../../../../src/features/users/store/users.ts'
import { openScene } from '../../../persistence/scene.ts'
import { verifies } from '../../../verifies.ts'

verifies(
  'contract-26.restored-secrets',
  'a revocation after a restore is above secrets made after the backup',
  async () => {
    await using scene = await openScene()
    const { sql, agentId } = scene
    await passEarlierNumbers(sql)
    const secret = await numberSecret(sql, { agentId, user: 'anna', sessionId: null })
    await sql`select setval('client_secret_numbers', 5)` // as the backup had it
    await passEarlierNumbers(sql)
    expect(await revokeUser(sql, agentId, 'anna')).toBeGreaterThan(Number(secret))
    // It never goes back.
    const ahead = Date.now() * 2
    await sql`select setval('client_secret_numbers', ${ahead})`
    await passEarlierNumbers(sql)
    expect(await revokeUser(sql, agentId, 'anna')).toBe(ahead + 1)
  },
)
