/** Contract section 26: the log masks what looks like a key. */
import { expect } from 'vitest'
import { connectRedis } from '../../src/coordination/redis/redis-client.ts'
import { maskedError, maskedText } from '../../src/untrusted/masked-log.ts'
import { startRedis } from '../support/programs/redis.ts'
import { verifies } from '../verifies.ts'

const key = 'sk-proj-abcdefgh12345678'

verifies('contract-26.masked-log', 'in details, in errors, and in what caused them', () => {
  expect(maskedText(`Incorrect API key: ${key}`)).not.toContain(key)
  const cause = new Error(`the cause says ${key}`)
  const error = Object.assign(new Error(`the error says ${key}`, { cause }), {
    body: `the body says ${key}`,
    code: 'X',
  })
  const masked = maskedError(error)
  expect(JSON.stringify(masked)).not.toContain(key)
  expect(masked).toMatchObject({
    type: 'Error',
    code: 'X',
    message: 'the error says [removed]: the cause says [removed]',
  })
  expect(maskedError('no error')).toMatchObject({ message: 'no error' })
})

verifies('contract-26.masked-log', 'and has no password of a Redis that refuses it', async () => {
  await using redis = await startRedis({ password: 'the-right-one' })
  const refused = Promise.withResolvers<Error>()
  const behaviour = { maxRetriesPerRequest: 0, enableOfflineQueue: false }
  const client = connectRedis(`redis://:hunter2@127.0.0.1:${redis.port}`, behaviour, refused.resolve)
  const masked = maskedError(await refused.promise)
  client.disconnect()
  expect(masked.message).toMatch(/^WRONGPASS/)
  expect(JSON.stringify(masked)).not.toContain('hunter2')
})
