/**
 * The product as its users run it: a child process with its own data folder and port.
 *
 *     await using product = await startProduct()            // npm start, embedded database
 *     await using other = await startProduct({ direct: true, env: { DATABASE_URL: url } })
 *
 * Leaves neither processes nor folders behind, whatever happens.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from '../../../openapi/client.ts'
import { askSetUp } from '../database.ts'
import { temporaryFolder } from '../folder.ts'
import { nodeBelow, setPriorities, statOf } from '../process-tree.ts'
import { WAIT_MS } from '../wait.ts'
import { killGroup, killWithUs } from './program.ts'

const ownCheckout = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Longer than any drain in a test and the 30 s that the product then allows itself: chaos sends a second signal to one
 * that is late, which ends it with 1. A test's own timeout would leave the process behind.
 */
const STOP_MS = 45_000

export interface ProductOptions {
  /** By default a new folder, removed at the end. A given one is kept. */
  dataDir?: string
  /** Settings; PORT is 0 and LOG_LEVEL warn by default. */
  env?: Record<string, string>
  /** Path of the checkout; absent: this one. */
  checkout?: string
  /** Node runs the built server (scripts/build-server.ts), without npm. */
  direct?: boolean
  /** Arguments of node, with `direct`. It runs `entry` then. */
  nodeArgs?: string[]
  /** The file that node runs where the build is not meant. `src/main.ts` by default. */
  entry?: string
  /**
   * True if it starts with the processor time that the others leave: on a machine of its own its start would cost them
   * nothing. With `direct`.
   */
  startsAside?: boolean
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A started product, which may fail to come up. */
export interface Launched extends AsyncDisposable {
  dataDir: string
  /** Lines so far. */
  stdout: string[]
  stderr: string[]
  /** Process id of npm, or of node with `direct`. */
  child: ChildProcess
  exited: Promise<Exit>
}

export interface Product extends Launched {
  url: string
  /** Process id of node, not of npm. */
  pid: number
  client: ReturnType<typeof createClient>
  /** Sends the signal to node, or to the given target, and waits until all of them have ended. Rejects after 45 s. */
  stop(signal?: NodeJS.Signals, to?: 'node' | 'npm' | 'group'): Promise<Exit>
  /** Kills it, like a crash; resolves when it is gone. */
  kill9(): Promise<void>
}

/** Returns a folder that the database's OS user can access (mode 755); disposing it removes it. */
export async function dataFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await temporaryFolder('e2e')
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  }
}

/** Starts it without waiting; see `startProduct` for one that is ready. */
export async function launchProduct(options: ProductOptions = {}): Promise<Launched> {
  const own = options.dataDir === undefined ? await dataFolder() : null
  const dataDir = options.dataDir ?? own?.path ?? ''
  const checkout = options.checkout ?? ownCheckout
  const [command, args] = options.direct
    ? [process.execPath, [...(options.nodeArgs ?? []), await entryOf(options)]]
    : ['npm', ['start']]
  const child = spawn(command, args, {
    cwd: checkout,
    // A separate process group, so that all of it can be signalled, as a terminal does.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: [join(checkout, 'node_modules/.bin'), process.env.PATH ?? ''].join(delimiter),
      HOME: process.env.HOME ?? '/',
      npm_config_update_notifier: 'false',
      // The run's: a start takes 0.9 s of processor time instead of 1.35 s.
      ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'warn',
      ...options.env,
    },
  })
  if (options.startsAside && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  const release = killWithUs(child.pid ?? 0)
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  exited.then(release, release)
  return {
    dataDir,
    stdout: linesOf(child.stdout),
    stderr: linesOf(child.stderr),
    child,
    exited,
    async [Symbol.asyncDispose]() {
      killGroup(child)
      await exited
      await serverGone(dataDir)
      await own?.[Symbol.asyncDispose]()
    },
  }
}

/** Returns the program to run. Outside a test run (`npm run chaos`), and for measured processes, it is the sources. */
async function entryOf({ nodeArgs, checkout, entry = 'src/main.ts' }: ProductOptions): Promise<string> {
  const asTheyAre = nodeArgs !== undefined || checkout !== undefined || process.env.VITEST === undefined
  return asTheyAre ? entry : await askSetUp('server')
}

/** Resolves when it listens and /readyz is 200. Rejects with its output if it exits before. */
export async function startProduct(options: ProductOptions = {}): Promise<Product> {
  const launched = await launchProduct(options)
  try {
    const url = await urlOf(launched)
    await ready(url)
    const { child, exited } = launched
    const pid = options.direct ? (child.pid ?? 0) : await nodeBelow(child.pid ?? 0)
    if (options.startsAside) await setPriorities(pid, constants.priority.PRIORITY_NORMAL)
    return Object.assign(launched, {
      url,
      pid,
      client: createClient(url),
      stop(signal: NodeJS.Signals = 'SIGTERM', to: 'node' | 'npm' | 'group' = 'node') {
        const npm = child.pid ?? 0
        process.kill({ node: pid, npm, group: -npm }[to], signal)
        return endOf(launched)
      },
      async kill9() {
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // it has just ended by itself
        }
        await exited
      },
    })
  } catch (error) {
    await launched[Symbol.asyncDispose]()
    throw error
  }
}

/** Sends SIGINT repeatedly: the first one later than a second after the stop signal ends the process. */
export async function signalUntilGone({ pid, exited }: Pick<Product, 'pid' | 'exited'>): Promise<void> {
  const gone = new AbortController()
  exited.then(
    () => gone.abort(),
    () => gone.abort(),
  )
  while (!gone.signal.aborted) {
    try {
      process.kill(pid, 'SIGINT')
    } catch {
      return // it has just ended
    }
    await pause(100, undefined, { signal: gone.signal }).catch(() => {})
  }
}

async function endOf({ exited, stdout, stderr }: Launched): Promise<Exit> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`The product did not stop.\n${[...stdout, ...stderr].join('\n')}`))
  }, STOP_MS)
  return await Promise.race([exited, late]).finally(() => clearTimeout(timer))
}

function linesOf(stream: NodeJS.ReadableStream | null): string[] {
  const lines: string[] = []
  if (stream) createInterface({ input: stream }).on('line', (line) => lines.push(line))
  return lines
}

async function urlOf({ stderr, stdout, exited }: Launched): Promise<string> {
  let ended: Exit | null = null
  exited.then(
    (exit) => {
      ended = exit
    },
    () => {},
  )
  for (const deadline = performance.now() + WAIT_MS; ; ) {
    const line = stderr.map((text) => /^Greenroom listens on (\S+)$/.exec(text)?.[1]).find((url) => url !== undefined)
    if (line !== undefined) return line
    if (ended !== null || performance.now() > deadline) {
      throw new Error(`The product did not start: ${JSON.stringify(ended)}\n${[...stdout, ...stderr].join('\n')}`)
    }
    await pause(10)
  }
}

async function ready(url: string): Promise<void> {
  for (const deadline = performance.now() + WAIT_MS; ; await pause(10)) {
    const answer = await fetch(`${url}/readyz`)
    if (answer.status === 200) return
    if (performance.now() > deadline) throw new Error(`Not ready: ${await answer.text()}`)
  }
}

/** Returns the process id of the embedded database's server; null when none runs. */
export async function serverPid(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number(text.split('\n')[0])
  return pid > 0 && (await statOf(pid)) !== null ? pid : null
}

/** Resolves when no embedded database runs in the folder (after a crash it lives on briefly). */
async function serverGone(dataDir: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  while ((await serverPid(dataDir)) !== null) {
    if (performance.now() > deadline) throw new Error(`A PostgreSQL is left in ${dataDir}.`)
    await pause(20)
  }
}

/** Creates a provider and an agent on it through the management API. Resolves to the agent's id. */
export async function addAgent({ client }: Pick<Product, 'client'>, baseUrl: string): Promise<string> {
  const provider = await client.POST('/api/v1/settings/providers', {
    body: { name: crypto.randomUUID(), providerType: 'openai-compatible', baseUrl },
  })
  const providerId = provider.data?.id ?? ''
  const agent = await client.POST('/api/v1/agents', { body: { name: 'Scripted', providerId, model: 'up' } })
  if (agent.data === undefined) throw new Error(JSON.stringify([provider.error, agent.error]))
  return agent.data.id
}

/** The demo agent's id (contract section 1, SEED_DEMO). */
export const demoAgent = '00000000-0000-4000-8000-000000000001'
/** Returns the URL of the agent's deploy API. */
export const deployUrl = (url: string, agentId: string): string => `${url}/api/v1/agents/${agentId}/deploy`

/** Creates a session; resolves to its path, which is valid on any instance. */
export async function newSession(url: string, agentId: string, fields: object = {}): Promise<string> {
  const answer = await postJson(`${deployUrl(url, agentId)}/sessions`, fields)
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`)
  return `${deployUrl('', agentId)}/sessions/${Object(await answer.json()).id}`
}

export const postJson = (url: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

export interface WireMessage {
  id: string
  role: string
  content: string
  status: string
  finish_reason: string | null
}

/** Returns the messages of a session, by its path. */
export async function messagesOf(url: string, session: string): Promise<WireMessage[]> {
  const answer = await fetch(`${url}${session}/messages`)
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
  return Object(await answer.json()).messages
}
