/** The contract's own words on errors (specification 7, contract section 13). */
import { expect, test } from 'vitest'
import openapi from '../../openapi/openapi.json' with { type: 'json' }

interface Answer {
  description: string
  content?: Record<string, unknown>
}
const paths: Record<string, Record<string, { responses: Record<string, Answer> }>> = openapi.paths
const objects: Record<string, string> = { 400: 'DeployRequestError', 401: 'DeployAuthError' }

test('deploy errors are {error}, an object for 400 and 401; all others {message}', () => {
  for (const [path, item] of Object.entries(paths)) {
    if (path === '/readyz') continue
    for (const { responses } of Object.values(item)) {
      for (const [status, answer] of Object.entries(responses)) {
        if (Number(status) < 400) continue
        const isOpenAi = /\/(?:responses|conversations|files)(?:\/|$)/.test(path)
        const ofDeploy = isOpenAi ? 'ResponseError' : (objects[status] ?? 'DeployError')
        const said = /\/(?:deploy|openai)\//.test(path) ? ofDeploy : 'Message'
        expect(answer.content?.['application/json'], `${path} ${status}`).toEqual({
          schema: { $ref: `#/components/schemas/${said}` },
        })
      }
    }
  }
})
