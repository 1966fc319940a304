/**
 * Third-party servers. Exact versions and a few lines of setup are in `bench/contenders/NAME/`. They are installed into
 * `.bench/NAME/` on first use and again when any of that changes, never among our dependencies.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/programs/free-port.ts'
import { killWithUs } from '../../test/support/programs/program.ts'

const START_MS = 60_000
const installRoot = fileURLToPath(new URL('../../.bench/', import.meta.url))
/** The PATH with our version of Node first. */
const path = [dirname(process.execPath), process.env.PATH].join(delimiter)

/** Environment of every peer. No V8 flags; variables that affect a peer's speed are appended. */
export const peerFlags = 'NODE_ENV=production'

export type Peer = AsyncDisposable & { readonly url: string; readonly pid: number }

type PeerOptions = {
  /** Returns the arguments of node; paths are relative to `cwd`. */
  args(port: number): string[]
  /** Working directory. */
  cwd: string
  env: Record<string, string>
  /** A path that returns 2xx once it serves. */
  ready: string
}

const sourceOf = (name: string): string => fileURLToPath(new URL(`${name}/`, import.meta.url))

/** Installs it if needed, runs its build if it has one, and resolves to its folder. Rejects with npm's output. */
export async function installPeer(name: string): Promise<string> {
  const folder = join(installRoot, name)
  const stamp = join(folder, '.installed')
  const wanted = await fingerprint(sourceOf(name))
  if ((await readFile(stamp, 'utf8').catch(() => '')) === wanted) return folder
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await cp(sourceOf(name), folder, { recursive: true })
  await npm(folder, ['install', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'])
  await npm(folder, ['run', 'build', '--if-present'])
  await writeFile(stamp, wanted)
  return folder
}

async function fingerprint(folder: string): Promise<string> {
  const hash = createHash('sha256')
  const files: string[] = []
  for await (const file of glob('**/*.*', { cwd: folder })) files.push(file)
  for (const file of files.sort()) hash.update(file).update(await readFile(join(folder, file)))
  return hash.digest('hex')
}

async function npm(cwd: string, args: string[]): Promise<void> {
  const env = { ...process.env, PATH: path, MASTRA_TELEMETRY_DISABLED: '1' }
  const child = spawn('npm', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = outputOf(child)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`npm ${args.join(' ')} in ${cwd}: ${output()}`)
}

/** Starts it on a free port and waits until it serves. Rejects with its output if it exits early or takes 60 s. */
export async function startPeer({ args, cwd, env, ready }: PeerOptions): Promise<Peer> {
  const port = await freePort()
  const child = spawn(process.execPath, args(port), {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: path, HOME: cwd, NODE_ENV: 'production', PORT: String(port), ...env },
  })
  const output = outputOf(child)
  const pid = child.pid ?? 0
  const ended = once(child, 'close')
  ended.then(killWithUs(pid))
  const peer: Peer = {
    url: `http://127.0.0.1:${port}`,
    pid,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL')
      await ended
    },
  }
  for (const deadline = performance.now() + START_MS; !(await answers(peer.url + ready)); await pause(50)) {
    if (child.exitCode === null && performance.now() < deadline) continue
    await peer[Symbol.asyncDispose]()
    throw new Error(`${args(port).join(' ')} did not start: ${output()}`)
  }
  return peer
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    (answer) => answer.ok,
    () => false,
  )

/** Returns the end of its output, stdout and stderr together. */
function outputOf(child: { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream }): () => string {
  let text = ''
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (part: string) => {
      text = (text + part).slice(-10_000)
    })
  }
  return () => text
}

/** POSTs JSON and resolves to the response's JSON; rejects unless it is 2xx. */
export async function post(url: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  return Object(await answer.json())
}
