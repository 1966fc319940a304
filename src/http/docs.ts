/** Pages for people: the first page at `/`, the contract at `/openapi.json`, and `/docs` to read and try it. */
import { readFile } from 'node:fs/promises'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

const contract = new URL('../../openapi/openapi.json', import.meta.url)

// Scripts and styles come from this server alone; no page may frame these.
const strict = "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'"
// The reference page's own scripts set inline styles and use images as data.
const docsPolicy = `${strict}; img-src 'self' data:; style-src 'self' 'unsafe-inline'`

const guards = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' }

/**
 * `GET /openapi.json` and `/docs`. Put it into a scope that asks for the login: a browser that opens `/docs`
 * without one is then led to the login on the first page and back (contract section 8).
 */
export async function registerDocs(parent: FastifyInstance): Promise<void> {
  const text = await readFile(contract, 'utf8')
  await parent.register(async (app) => {
    app.setErrorHandler((error: { statusCode?: number }, request, reply) => {
      const isPage = request.method === 'GET' && /^\/docs\/?(?:\?|$)/.test(request.url)
      if (error.statusCode === 401 && isPage) return reply.redirect('/?next=/docs', 303)
      throw error
    })
    app.addHook('onSend', async (_request, reply) => {
      reply.headers(guards)
    })
    app.get('/openapi.json', async (_request, reply) => reply.type('application/json; charset=utf-8').send(text))
    await app.register(swagger, { mode: 'static', specification: { document: JSON.parse(text) } })
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: docsPolicy,
      validatorUrl: false,
      logo: { type: 'image/svg+xml', content: await readFile(pageFile('favicon.svg')), href: '/', target: '_self' },
      theme: { title: 'Greenroom: API' },
      uiConfig: { docExpansion: 'none', defaultModelsExpandDepth: 0, displayRequestDuration: true },
    })
  })
}

const pageFile = (name: string): URL => new URL(`page/${name}`, import.meta.url)

const pageFiles = [
  { url: '/', name: 'index.html', type: 'text/html; charset=utf-8' },
  { url: '/page.css', name: 'page.css', type: 'text/css; charset=utf-8' },
  { url: '/page.js', name: 'page.js', type: 'text/javascript; charset=utf-8' },
  { url: '/favicon.svg', name: 'favicon.svg', type: 'image/svg+xml' },
]

/** The first page, open to everybody: what runs here, the first request to copy, and the login where one is needed. */
export async function registerPage(app: FastifyInstance): Promise<void> {
  for (const { url, name, type } of pageFiles) {
    const content = await readFile(pageFile(name))
    app.get(url, async (_request, reply) =>
      reply.headers({ ...guards, 'content-security-policy': strict, 'content-type': type }).send(content),
    )
  }
}
