/** What logs and traces keep of a request's path. */
import { expect } from 'vitest'
import { shownPath } from '../../../src/http/server/paths.ts'
import { verifies } from '../../verifies.ts'

verifies('contract-26.shown-paths', 'neither its query nor the name of a user', () => {
  for (const [url, shown] of [
    ['/api/v1/agents/a/deploy/users/anna%40example.com?x=1', '/api/v1/agents/a/deploy/users/…'],
    ['/api/v1/agents/a/deploy/users/anna/export', '/api/v1/agents/a/deploy/users/…/export'],
    ['/api/v1/agents/a/deploy/sessions?access_token=ek_1', '/api/v1/agents/a/deploy/sessions'],
    ['/livez', '/livez'],
  ])
    expect(shownPath(url)).toBe(shown)
})
