/** The part of an nginx.conf on docs/operating/proxies.md, in an nginx before one instance. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createAgent, startTestApp } from '../support/app.ts'
import { startUpstream } from '../support/network/upstream.ts'
import { freePort } from '../support/programs/free-port.ts'
import { deployUrl, postJson } from '../support/programs/product.ts'
import { programFolder, startProgram } from '../support/programs/program.ts'
import { systemPart } from '../support/programs/system-parts.ts'
import { openSse } from '../support/streams/sse.ts'
import { blocksOf } from './blocks.ts'

const snippet = blocksOf('docs/operating/proxies.md').find(({ language }) => language === 'nginx')?.code ?? ''

/** Starts nginx with the part of the page. Resolves to its URL. */
async function startWith(part: string, stack: AsyncDisposableStack): Promise<string> {
  const folder = stack.use(await programFolder('snippet'))
  const port = await freePort()
  const conf = join(folder.path, 'nginx.conf')
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (one) => `${one}_temp_path ${folder.path}/${one};`,
  )
  const http = `${paths.join(' ')} access_log off; server { listen 127.0.0.1:${port}; ${part} }`
  await writeFile(conf, `pid ${folder.path}/pid; error_log stderr warn; events {} http { ${http} }`)
  const url = `http://127.0.0.1:${port}`
  const ready = () =>
    fetch(`${url}/livez`).then(
      ({ ok }) => ok,
      () => false,
    )
  const args = ['-p', folder.path, '-e', 'stderr', '-c', conf, '-g', 'daemon off;']
  const program = await startProgram(systemPart('nginx'), args, { ready })
  stack.defer(() => program.kill9())
  return url
}

test('streams arrive piece by piece, and what is refused is refused by the instance', async () => {
  await using stack = new AsyncDisposableStack()
  const up = stack.use(await startUpstream())
  const app = stack.use(
    await startTestApp({ settings: { TRUST_PROXY: '127.0.0.1', AUTH_CREDENTIALS: 'root:secret-word' } }),
  )
  const { agentId } = await createAgent(app, { type: 'openai-compatible', baseUrl: up.url })
  const url = await startWith(snippet.replace('http://127.0.0.1:8080', app.url), stack)
  const called = new Promise<Parameters<Parameters<typeof up.next>[0]>[0]>((resolve) => void up.next(resolve))
  const stream = await openSse(`${deployUrl(url, agentId)}/chat/completions`, {
    stream: true,
    messages: [{ role: 'user', content: 'Go' }],
  })
  const call = await called
  await call.text('Hel')
  while (!stream.raw().includes('Hel')) await stream.next()
  await call.text('lo')
  await call.finish('stop')
  await stream.rest()
  expect(stream.raw()).toContain('[DONE]')
  // Beyond MAX_BODY_BYTES, and beyond what nginx takes by itself: the answer is the instance's.
  const long = await postJson(`${deployUrl(url, agentId)}/chat/completions`, { messages: 'x'.repeat(5_000_000) })
  expect([long.status, await long.json()]).toEqual([413, { error: expect.any(String) }])
  // The origin is compared with the address that the browser asked for.
  const login = (origin: string) =>
    postJson(`${url}/api/auth/login`, { username: 'root', password: 'secret-word' }, { origin })
  expect([(await login(url)).status, (await login('http://127.0.0.1:1')).status]).toEqual([200, 403])
})
