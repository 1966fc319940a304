/** nginx with the shipped deploy/nginx.conf: only addresses and folders are replaced. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { programFolder, startProgram } from './program.ts'
import { systemPart } from './system-parts.ts'

const file = new URL('../../../deploy/nginx.conf', import.meta.url)

export interface Nginx extends AsyncDisposable {
  url: string
  /** Returns the log so far. */
  said(): string
}

/** Starts it in front of these origins. Resolves when it listens. `retryMs`: how long it retries on another one. */
export async function startNginx(upstreams: string[], retryMs = 5000): Promise<Nginx> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await programFolder('nginx'))
  const port = await freePort()
  const conf = join(folder.path, 'nginx.conf')
  await writeFile(conf, configuration(await readFile(file, 'utf8'), { upstreams, retryMs, port, folder: folder.path }))
  const url = `http://127.0.0.1:${port}`
  const args = ['-p', folder.path, '-e', 'stderr', '-c', conf, '-g', 'daemon off;']
  const answers = () =>
    fetch(`${url}/livez`).then(
      () => true,
      () => false,
    )
  const program = await startProgram(systemPart('nginx'), args, { ready: answers })
  stack.defer(() => program.kill9())
  const kept = stack.move()
  return { url, said: program.said, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** Throws if the file no longer contains what is to be replaced. */
function configuration(
  text: string,
  { upstreams, retryMs, port, folder }: { upstreams: string[]; retryMs: number; port: number; folder: string },
): string {
  const servers = upstreams.map((url) => `server ${new URL(url).host} max_fails=0;`).join('\n')
  const replaced = [
    [/(\s*server greenroom-\d:8080 max_fails=0;)+/, `\n${servers}`],
    [/listen 8080;/, `listen 127.0.0.1:${port};`],
    [/worker_connections 16384;/, 'worker_connections 1024;'], // more than the open file limit in some environments
    [/ \/tmp\//g, ` ${folder}/`],
    [/proxy_next_upstream_timeout 5s;/, `proxy_next_upstream_timeout ${retryMs}ms;`],
  ] as const
  for (const [wanted, by] of replaced) {
    if (text.search(wanted) < 0) throw new Error(`deploy/nginx.conf has no ${wanted}`)
    text = text.replace(wanted, by)
  }
  return text
}
