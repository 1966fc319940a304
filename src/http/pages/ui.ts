/** The pages for people, built into ui/dist. They need no login: the data that they show does. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import serveStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pageGuards, sharedPolicy, strictPolicy } from './page-guards.ts'

const built = new URL('../../../ui/dist/', import.meta.url)
// The nonce stands in index.html once; the pages give it to the style elements that they make.
const noncePlace = '__STYLE_NONCE__'
// Likewise: `required`, or `none`, which spares the pages the question before anything is shown.
const loginPlace = '__LOGIN__'
// And before it the files of the page that is asked for, which would otherwise be known once a script has run.
const preloadsPlace = '</head>'
// What of a page is shown before its scripts (ui/index.html): nothing, where a name is not known.
const firstPlace = '__FIRST__'
const yearMs = 31_536_000_000

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Greenroom</title>
<h1>Greenroom runs, its pages are not built</h1>
<p>Run <code>npm run build</code> in the checkout and load this page again. It needs the development packages,
which <code>npm ci</code> installs. The API works without: <a href="/docs">its description</a>.</p></html>`

/** Answers a request that came for a page. */
export type SendPage = (reply: FastifyReply) => Promise<FastifyReply>

/**
 * Serves `/`, `/assets/…` and the few files beside them from `folder`, each time from the disk: a build under a running
 * server shows at the next load. Without a build `/` says how to make one, and so does the log.
 */
export async function registerUi(
  app: FastifyInstance,
  { login, folder = built }: { login: 'required' | 'none'; folder?: URL },
): Promise<SendPage> {
  const index = new URL('index.html', folder)
  if (!existsSync(index)) app.log.warn('The pages are not built: npm run build makes them. The API works without.')
  const preloads = new URL('preloads.json', folder)
  const sendPage: SendPage = async (reply) => {
    const html = await readFile(index, 'utf8').catch(() => notBuilt)
    const links = linksFor(reply.request.url, await readFile(preloads, 'utf8').catch(() => '{}'))
    // A browser without a cookie is about to see the login.
    const isKnown = login === 'none' || reply.request.headers.cookie !== undefined
    const filled = html
      .replace(firstPlace, isKnown ? firstFrame(reply.request.url) : '')
      .replace(loginPlace, login)
      .replace(preloadsPlace, `${links}${preloadsPlace}`)
    return sendHtml(reply, filled)
  }
  app.get('/', (_request, reply) => sendPage(reply))
  app.get('/share/:agent_id/:session_id', (_request, reply) => sendSharedPage(reply, new URL('share.html', folder)))
  await app.register((scope) => serveFiles(scope, fileURLToPath(folder)))
  return sendPage
}

/** Returns the page at `url`, if index.html has a first frame of it. */
function firstFrame(url: string): string {
  const [, first, , session] = (url.split('?', 1)[0] ?? '').split('/')
  if (first === '') return 'home'
  if (first !== 'playground') return ''
  return session ? 'session' : 'chat'
}

/**
 * Returns the links by which ui/src/entry.ts makes a browser fetch the files of the page at `url` early. `preloads` is
 * what the build has written: the files of each page, by the beginning of its address (ui/preloads.ts).
 */
function linksFor(url: string, preloads: string): string {
  const path = url.split('?', 1)[0] ?? ''
  const files: Record<string, string[]> = JSON.parse(preloads)
  const [, found = []] = Object.entries(files).find(([start]) => path === start || path.startsWith(`${start}/`)) ?? []
  return found
    .map(
      (file) =>
        `<link data-rel="${file.endsWith('.css') ? 'preload" as="style' : 'modulepreload'}" crossorigin href="${file}">`,
    )
    .join('')
}

/**
 * Sends a page. Scripts and styles come from this server; style elements that a page makes itself carry this answer's
 * nonce.
 */
function sendHtml(
  reply: FastifyReply,
  html: string,
  {
    policy = `${strictPolicy}; img-src 'self' blob:`,
    cache = pageGuards['cache-control'],
  }: { policy?: string; cache?: string } = {},
): FastifyReply {
  const nonce = randomBytes(16).toString('base64')
  return reply
    .headers({
      ...pageGuards,
      'cache-control': cache,
      'content-security-policy': `${policy}; style-src 'self' 'nonce-${nonce}'`,
    })
    .type('text/html; charset=utf-8')
    .send(html.replace(noncePlace, nonce))
}

/** Sends the page of shares: the same whatever the address names, which the page alone reads. */
async function sendSharedPage(reply: FastifyReply, file: URL): Promise<FastifyReply> {
  const html = await readFile(file, 'utf8').catch(() => notBuilt)
  return sendHtml(reply.header('x-robots-tag', 'noindex'), html, { policy: sharedPolicy, cache: 'no-store' })
}

async function serveFiles(app: FastifyInstance, root: string): Promise<void> {
  app.addHook('onSend', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
  })
  await app.register(serveStatic, {
    root: `${root}assets`,
    prefix: '/assets/',
    // Their names change with their content.
    maxAge: yearMs,
    immutable: true,
    preCompressed: true,
    index: false,
    suppressWarning: true,
  })
  for (const name of ['favicon.svg', 'color-scheme.js', 'NOTICE.txt']) {
    app.get(`/${name}`, (_request, reply) => reply.sendFile(name, root, { maxAge: 0, immutable: false }))
  }
  serveFrames(app, root)
}

/**
 * The frames for what a page itself may not show: diagrams need styles without a nonce, a picture comes from elsewhere.
 * Sandboxed, a frame has no origin: neither the page's cookies and storage nor the page.
 */
const frames = {
  diagram: "script-src 'self'; style-src 'unsafe-inline'",
  picture: "script-src 'self'; style-src 'self'; img-src https: http:",
} as const

function serveFrames(app: FastifyInstance, root: string): void {
  for (const [name, policy] of Object.entries(frames)) {
    app.get(`/frames/${name}.html`, (_request, reply) =>
      reply
        .headers({
          ...pageGuards,
          'content-security-policy': `default-src 'none'; ${policy}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts`,
        })
        .sendFile(`frames/${name}.html`, root, { maxAge: 0, immutable: false }),
    )
  }
  for (const name of ['diagram.js', 'picture.js', 'picture.css']) {
    app.get(`/frames/${name}`, (_request, reply) =>
      reply.sendFile(`frames/${name}`, root, { maxAge: 0, immutable: false }),
    )
  }
}

const notPages = /^\/(?:api|docs|openapi\.json|livez|readyz|assets|frames)(?:[/?]|$)/

/** Returns whether a browser asks for a page by an address of its own (`/prompts/…`), which the pages' router knows. */
export function asksForPage({ method, url, headers }: FastifyRequest): boolean {
  const reads = method === 'GET' || method === 'HEAD'
  return reads && !notPages.test(url) && /\btext\/html\b/.test(headers.accept ?? '')
}
