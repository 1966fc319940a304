/** The contract for people and programs: `/openapi.json`, and `/docs` to read and try it. */
import { readFile } from 'node:fs/promises'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { pageGuards, strictPolicy } from './page-guards.ts'

const contract = new URL('../../openapi/openapi.json', import.meta.url)

// Part of the built pages, which may be missing (ui.ts).
const markFile = new URL('../../ui/dist/favicon.svg', import.meta.url)
// The reference page's own scripts set inline styles and use images as data.
const docsPolicy = `${strictPolicy}; img-src 'self' data:; style-src 'self' 'unsafe-inline'`

/**
 * `GET /openapi.json` and `/docs`. Put it into a scope that asks for the login: a browser that opens `/docs`
 * without one is then led to the login on the first page and back (contract section 8).
 */
export async function registerDocs(parent: FastifyInstance): Promise<void> {
  const text = await readFile(contract, 'utf8')
  const mark = await readFile(markFile).catch(() => null)
  await parent.register(async (app) => {
    app.setErrorHandler((error: { statusCode?: number }, request, reply) => {
      const isPage = request.method === 'GET' && /^\/docs\/?(?:\?|$)/.test(request.url)
      if (error.statusCode === 401 && isPage) return reply.redirect('/?next=/docs', 303)
      throw error
    })
    app.addHook('onSend', async (_request, reply) => {
      reply.headers(pageGuards)
    })
    app.get('/openapi.json', async (_request, reply) => reply.type('application/json; charset=utf-8').send(text))
    await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(text) } })
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: docsPolicy,
      validatorUrl: false,
      ...(mark && { logo: { type: 'image/svg+xml', content: mark, href: '/', target: '_self' } }),
      theme: { title: 'Greenroom: API' },
      uiConfig: { docExpansion: 'none', defaultModelsExpandDepth: 0, displayRequestDuration: true },
    })
  })
}
