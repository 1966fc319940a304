/** The contract for people and programs: `/openapi.json`, and `/docs` to read and try it. */
import { readdir, readFile } from 'node:fs/promises'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { pageGuards, strictPolicy } from './page-guards.ts'

const contract = new URL('../../../openapi/openapi.json', import.meta.url)

// Part of the built pages, which may be missing (ui.ts).
const markFile = new URL('../../../ui/dist/favicon.svg', import.meta.url)
const assets = new URL('../../../ui/dist/assets/', import.meta.url)
const themeFile = new URL('./docs-page/theme.css', import.meta.url)
const scriptFile = new URL('./docs-page/page.js', import.meta.url)
// The reference page's own scripts set inline styles and use images as data.
const docsPolicy = `${strictPolicy}; img-src 'self' data:; style-src 'self' 'unsafe-inline'`

/** Returns the letters of the pages. Empty where they are not built. */
async function fontFace(): Promise<string> {
  const names = await readdir(assets).catch(() => [])
  const name = names.find((one) => /^inter-latin-wght-normal-.*\.woff2$/.test(one))
  const source = `src: url("/assets/${name}") format("woff2"); font-weight: 100 900; font-display: swap`
  return name === undefined ? '' : `@font-face { font-family: "Inter Variable"; ${source} }\n`
}

/**
 * Registers `GET /openapi.json` and `/docs`. Put it into a scope that asks for the login: a browser that opens `/docs`
 * without one is then led to the login on the first page and back (contract section 8).
 */
export async function registerDocs(parent: FastifyInstance): Promise<void> {
  await parent.register(async (app) => {
    app.setErrorHandler((error: { statusCode?: number }, request, reply) => {
      const isPage = request.method === 'GET' && /^\/docs\/?(?:\?|$)/.test(request.url)
      if (error.statusCode === 401 && isPage) return reply.redirect('/?next=/docs', 303)
      throw error
    })
    app.addHook('onSend', async (_request, reply) => {
      reply.headers(pageGuards)
    })
    app.get('/openapi.json', async (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(await readFile(contract, 'utf8')),
    )
    let reference: Promise<FastifyInstance> | null = null
    const answer = async (request: FastifyRequest, reply: FastifyReply) => {
      reference ??= startReference()
      return await answerWith(await reference, request, reply)
    }
    for (const url of ['/docs', '/docs/*']) app.get(url, answer)
    app.addHook('onClose', async () => void (await (await reference)?.close()))
  })
}

/** Passes a request on to another Fastify in this process. */
async function answerWith(other: FastifyInstance, { url, headers }: FastifyRequest, reply: FastifyReply) {
  const { statusCode, rawPayload, headers: own } = await other.inject({ method: 'GET', url, headers })
  if (statusCode === 404) return reply.callNotFound()
  const { connection: _, date: __, ...kept } = own
  return reply
    .code(statusCode)
    .headers(kept)
    .send(rawPayload.length === 0 ? undefined : rawPayload)
}

/**
 * Makes the reference page, on a Fastify of its own that listens to nothing. Called for its first reader, since few
 * starts have one.
 */
async function startReference(): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }, text, mark, font, theme, script] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
    readFile(contract, 'utf8'),
    readFile(markFile).catch(() => null),
    fontFace(),
    readFile(themeFile, 'utf8'),
    readFile(scriptFile, 'utf8'),
  ])
  // The one server is the one that the page came from: there is nothing to choose.
  const { servers: _, ...document } = JSON.parse(text)
  const app = Fastify()
  await app.register(swagger, { mode: 'static', specification: { document } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: docsPolicy,
    validatorUrl: false,
    theme: {
      title: 'API reference · Greenroom',
      css: [{ filename: 'theme.css', content: font + theme }],
      js: [{ filename: 'page.js', content: script }],
      ...(mark && {
        favicon: [{ filename: 'mark.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: mark }],
      }),
    },
    uiConfig: {
      // Hides the bar that loads other documents.
      layout: 'BaseLayout',
      docExpansion: 'none',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
    },
  })
  await app.ready()
  return app
}
