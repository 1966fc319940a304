/** Specification 9.2: what is refused before any handler, on whatever operation, is answered as openapi.json says. */
import { afterAll, expect } from 'vitest'
import { openScene } from '../http/scene.ts'
import { verifies } from '../verifies.ts'
import { document, walk, walked } from './openapi-walk.ts'

const scene = await openScene()
afterAll(scene.close)

verifies(
  ['spec-9.versioning', 'contract-2.errors', 'contract-23.management'],
  'what is refused before any handler is answered as declared',
  async () => {
    const made = await scene.call('POST', '/api/v1/keys', { name: 'k', scopes: ['deploy'] })
    const asKey = { authorization: `Bearer ${made.json.key}` }
    for (const [template, methods] of Object.entries(document.paths)) {
      if (!template.startsWith('/api/')) continue
      const isOfManagement = !/\/deploy\/|\/openai\//.test(template) && !template.startsWith('/api/auth/')
      for (const method of Object.keys(methods)) {
        const name = `${method} ${template}`
        if (isOfManagement) {
          await walk(scene, method, template, {}, undefined, asKey)
          expect([name, walked.has(`${name} 403`)]).toEqual([name, true])
        }
        if (method === 'get') continue
        await walk(scene, method, template, {}, 'x', { 'content-type': 'text/plain' })
        expect([name, walked.has(`${name} 415`)]).toEqual([name, true])
      }
    }
  },
)

const misspelt: Pick<typeof scene, 'call'> = {
  call: (method, path, ...rest) => scene.call(method, `${path}?limti=1`, ...rest),
}

verifies(
  'contract-25.unknown-parameters',
  'lists answer 400 as declared, whether they take parameters or not',
  async () => {
    for (const path of ['built-in-tools', 'provider-types', 'debug/actors'])
      await walk(misspelt, 'get', `/api/v1/${path}`, {})
  },
)
