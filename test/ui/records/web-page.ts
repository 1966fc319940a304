/** Another site: its backend's route and their page, as documented, on an origin of its own. */
import Fastify from 'fastify'
import { build } from 'vite'

export interface WebSite extends AsyncDisposable {
  origin: string
  /** All that the route has handed out. */
  secrets: readonly string[]
}

export interface SiteCode {
  /** Of the backend, to which `app` and `process.env` are known. */
  route: string
  page: string
}

let client: Promise<string> | null = null

/** The client as one file, from its sources; built once. */
function clientFile(): Promise<string> {
  client ??= buildClient()
  return client
}

async function buildClient(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: 'packages/client/src/index.ts', formats: ['es'], fileName: 'index' },
    },
  })
  const [{ output: [file] = [] } = {}] = [built].flat() as { output: { code: string }[] }[]
  if (file === undefined) throw new Error('The client was not built.')
  return file.code
}

export async function startSite(user: string, key: string, code: (origin: string) => SiteCode | Promise<SiteCode>) {
  const app = Fastify()
  const secrets: string[] = []
  app.addHook('onSend', async ({ url }, _reply, payload) => {
    if (url === '/chat-secret' && typeof payload === 'string') secrets.push(payload)
  })
  const script = await clientFile()
  let page = ''
  app.decorateRequest('user', { getter: () => ({ id: user }) })
  app.get('/', (_request, reply) => reply.type('text/html').send(page))
  app.get('/favicon.ico', (_request, reply) => reply.code(204).send())
  app.get('/client/index.js', (_request, reply) => reply.type('text/javascript').send(script))
  // Its address is known once it listens, routes must be there before.
  let secretRoute: ((request: unknown, reply: unknown) => unknown) | null = null
  app.post('/chat-secret', (request, reply) => secretRoute?.(request, reply))
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const written = await code(origin)
  page = written.page
  const taken = { post: (_path: string, handler: typeof secretRoute) => (secretRoute = handler) }
  new Function('app', 'process', written.route)(taken, { env: { GREENROOM_API_KEY: key } })
  return { origin, secrets, [Symbol.asyncDispose]: () => app.close() } satisfies WebSite
}
