/** Contract section 1, LOG_LEVEL: what is secret does not reach the log. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { verifies } from '../../verifies.ts'

const server = fileURLToPath(new URL('../../../src/http/server/server.ts', import.meta.url))

verifies('contract-1.logs', 'credentials in what is logged are redacted, beside it nothing', () => {
  const script = `
    import { createServer } from ${JSON.stringify(server)}
    const hosts = { allowedHosts: [], loopbackOnly: true }
    const options = { logLevel: 'info', maxBodyBytes: 1, trustProxy: null, deployKeys: [], credentials: null, hosts }
    createServer(options).log.info({
      req: { headers: { authorization: 'Bearer hush', cookie: 'greenroom_session=hush' } },
      apiKey: 'hush', password: 'hush', provider: { apiKey: 'hush', name: 'shown' }, login: { password: 'hush', username: 'shown' },
    }, 'said')`
  const line = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
  expect(line).not.toContain('hush')
  expect(JSON.parse(line)).toMatchObject({
    apiKey: '[Redacted]',
    provider: { apiKey: '[Redacted]', name: 'shown' },
    login: { password: '[Redacted]', username: 'shown' },
    msg: 'said',
  })
})
