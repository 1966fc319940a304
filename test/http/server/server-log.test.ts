/** Contract section 1, LOG_LEVEL: what is secret does not reach the log. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { verifies } from '../../verifies.ts'

const server = fileURLToPath(new URL('../../../src/http/server/server.ts', import.meta.url))

/** The one line of a server that logs `details`, which is written as source text. */
function lineOf(details: string): string {
  const script = `
    import { createServer } from ${JSON.stringify(server)}
    const hosts = { allowedHosts: [], loopbackOnly: true }
    const options = { logLevel: 'info', maxBodyBytes: 1, trustProxy: null, deployKeys: [], credentials: null, hosts }
    createServer(options).log.info(${details}, 'said')`
  return execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
}

verifies('contract-1.logs', 'credentials in what is logged are redacted, beside it nothing', () => {
  const line = lineOf(`{
    req: { headers: { authorization: 'Bearer hush', cookie: 'greenroom_session=hush' } },
    apiKey: 'hush', password: 'hush', provider: { apiKey: 'hush', name: 'shown' }, login: { password: 'hush', username: 'shown' },
  }`)
  expect(line).not.toContain('hush')
  expect(JSON.parse(line)).toMatchObject({
    apiKey: '[Redacted]',
    provider: { apiKey: '[Redacted]', name: 'shown' },
    login: { password: '[Redacted]', username: 'shown' },
    msg: 'said',
  })
})

verifies('contract-26.masked-log', 'in every field that holds words of a provider or a tool', () => {
  const words = 'refused: sk-live-abcdefghijklmnop1234567890'
  const fields = ['detail', 'reason', 'tool', 'name', 'question']
  const details = { ...Object.fromEntries(fields.map((field) => [field, words])), mcpServer: 'shown', lost: 3 }
  const line = lineOf(`{ ...${JSON.stringify(details)}, err: new Error(${JSON.stringify(words)}) }`)
  expect(line).not.toContain('sk-live')
  expect(JSON.parse(line)).toMatchObject({
    ...Object.fromEntries(fields.map((field) => [field, 'refused: [removed]'])),
    err: { message: 'refused: [removed]' },
    mcpServer: 'shown',
    lost: 3,
  })
  // A name says which tool it is, however long it is.
  const names = { tool: 'crm__searchKnowledgeBaseDocumentsV2', name: 'github-CreatePullRequestReviewComment2' }
  expect(JSON.parse(lineOf(JSON.stringify(names)))).toMatchObject(names)
})
