/** The page of docs/getting-started.md, as a reader copies it, in Chromium: a first message, stop, and the next one. */
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import Fastify from 'fastify'
import { afterAll, expect } from 'vitest'
import { blocksOf, checkout } from '../../docs/blocks.ts'
import { createAgent, startTestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { demoAgent } from '../../support/programs/product.ts'
import { WAIT_MS } from '../../support/wait.ts'
import { verifies } from '../../verifies.ts'
import { openBrowser } from '../browser.ts'
import { builtPage } from './built-page.ts'

const app = await startTestApp()
const browser = await openBrowser()
const folder = await temporaryFolder('first-page')
await symlink(join(checkout, 'node_modules'), join(folder, 'node_modules'))
afterAll(async () => {
  await browser.close()
  await app[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const blocks = blocksOf('docs/getting-started.md')

verifies(
  ['contract-25.ids-of-front-ends', 'contract-25.busy', 'contract-11.origins'],
  'it is answered, stopped, and answered again; the session is what it shows',
  async () => {
    const { agentId } = await createAgent(app)
    const here = (code: string) => code.replaceAll('http://127.0.0.1:8080', app.url).replaceAll(demoAgent, agentId)
    const [jsx] = blocks.filter(({ language }) => language === 'jsx')
    const script = await builtPage(folder, here(jsx?.code ?? ''))
    await using site = Fastify()
    site.get('/', (_, reply) =>
      reply.type('text/html').send('<!doctype html><div id="root"></div><script src="/page.js"></script>'),
    )
    site.get('/page.js', (_, reply) => reply.type('text/javascript').send(script))
    site.get('/favicon.ico', (_, reply) => reply.code(204).send())
    const origin = await site.listen({ port: 0, host: '127.0.0.1' })

    await using page = await browser.page(origin, { allow: /CORS|Failed to load resource|net::ERR_FAILED/ })
    await page.goto('/')
    const say = async (text: string) => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
    }
    const shows = (pattern: RegExp) =>
      expect.poll(() => page.locator('#root').textContent(), { timeout: WAIT_MS }).toMatch(pattern)
    // A reader who leaves the second command out: the origin is not listed.
    await say('/echo Too early')
    await shows(/Failed to fetch/)

    const allowed = blocks.flatMap(({ code }) => /-d '(\{"allowedOrigins.*\})'/.exec(code)?.[1] ?? [])
    const body = JSON.parse((allowed[0] ?? '').replace('http://localhost:5173', origin))
    await app.client.PUT('/api/v1/agents/{id}', { params: { path: { id: agentId } }, body })
    await page.goto('/')
    await say('/echo At last')
    await shows(/assistant: At last.*ready/)
    await say('/slow 600')
    await shows(/assistant: 1 2 3/)
    await page.getByRole('button', { name: 'Stop' }).click()
    await shows(/ready/)
    await say('/echo The next one')
    await shows(/assistant: The next one.*ready/)

    const stored = await app.sql<{ content: string; finish_reason: string | null }[]>`
      select m.content, m.finish_reason from messages m join sessions s on s.id = m.session_id
       where s.agent_id = ${agentId} order by m.position`
    expect(stored.map(({ content, finish_reason: end }) => (end === 'cancelled' ? end : content))).toEqual([
      '/echo At last',
      'At last',
      '/slow 600',
      'cancelled',
      '/echo The next one',
      'The next one',
    ])
  },
)
