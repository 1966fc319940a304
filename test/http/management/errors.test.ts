/** Which failures of management requests are logged (contract sections 1 and 2). */
import Fastify from 'fastify'
import { expect } from 'vitest'
import { sendManagementError } from '../../../src/http/management/errors.ts'
import { HttpError } from '../../../src/http/server/http-error.ts'
import { verifies } from '../../verifies.ts'

verifies(
  'contract-1.drain',
  'what a drain refuses is no failure that is logged; what a server fails at is',
  async () => {
    const lines: string[] = []
    await using app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void lines.push(line) } } })
    app.setErrorHandler(sendManagementError)
    app.get('/:status', (request: { params: unknown }) => {
      throw new HttpError(Number(Object(request.params).status), 'No.', { 'retry-after': '2' })
    })
    const refused = await app.inject('/503')
    expect([refused.statusCode, refused.json(), refused.headers['retry-after']]).toEqual([503, { message: 'No.' }, '2'])
    expect(lines).toEqual([])
    await app.inject('/502')
    expect(lines).toHaveLength(1)
  },
)
