import { readFile } from 'node:fs/promises'
import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { registerDocs } from '../../src/http/pages/docs.ts'
import { HttpError } from '../../src/http/server/http-error.ts'

const document = JSON.parse(await readFile(new URL('../../openapi/openapi.json', import.meta.url), 'utf8'))

describe('the contract as pages (contract section 8)', () => {
  const build = async (loggedIn: boolean) => {
    const app = Fastify()
    await app.register(async (scope) => {
      scope.setErrorHandler((error: HttpError, _request, reply) =>
        reply.code(error.status).send({ message: error.message }),
      )
      scope.addHook('onRequest', async () => {
        if (!loggedIn) throw new HttpError(401, 'Log in first.')
      })
      await registerDocs(scope)
    })
    return app
  }

  test('/openapi.json is the compiled contract', async () => {
    const answer = await (await build(true)).inject('/openapi.json')
    expect(answer.headers['content-type']).toContain('application/json')
    expect(answer.json()).toEqual(document)
  })

  test('/docs reads it, with nothing from elsewhere', async () => {
    const app = await build(true)
    const page = await app.inject('/docs')
    expect(page.statusCode).toBe(200)
    expect(page.body).not.toMatch(/(?:src|href)="https?:/)
    for (const [, path] of page.body.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect((await app.inject(new URL(path ?? '', 'http://x/docs').pathname)).statusCode, path).toBe(200)
    }
    expect((await app.inject('/docs/json')).json().paths).toEqual(document.paths)
  })

  test('where a login is required, /docs leads to it and back; the data is 401', async () => {
    const app = await build(false)
    const page = await app.inject('/docs')
    expect([page.statusCode, page.headers.location]).toEqual([303, '/?next=/docs'])
    for (const path of ['/openapi.json', '/docs/json', '/docs/yaml']) {
      const answer = await app.inject(path)
      expect([answer.statusCode, answer.json()]).toEqual([401, { message: 'Log in first.' }])
    }
  })
})
