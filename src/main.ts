/** Owns the process: settings, signals, exit code. The only file that touches `process`. */
import cluster from 'node:cluster'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { App } from './compose/app.ts'
import { misspeltSettings } from './compose/start/misspelt-settings.ts'
import { createLogWriter } from './observability/log-writer.ts'
import type { MetricsSnapshot } from './observability/metrics.ts'
import { readableLine } from './observability/readable-log.ts'
import { createWorkerMetrics, isMetricsQuestion, type MetricsAnswer } from './observability/worker-metrics.ts'
import { readSettings, type Settings, table } from './settings.ts'
import { SettingsError } from './settings-checks.ts'
import { type Listening, startWorkers, stopMessage } from './workers.ts'

/**
 * The folder of the modules that Node.js has compiled: a third of each later start. Nothing is kept where it cannot be written.
 * `npm start` names it earlier still, for this file and what it imports.
 */
const compiled = fileURLToPath(new URL('../node_modules/.cache/greenroom', import.meta.url))

/** EX_CONFIG of sysexits.h: a setting is invalid, a restart will not help. */
const EXIT_CONFIG = 78
/** Longest stop after the drain: outcomes (5 s), last bytes (1 s), connections, the database (15 s, then killed). */
const CLOSE_MS = 30_000

const print = (line: string): void => void process.stderr.write(`${line}\n`)

/** Readable lines at a terminal on standard error; JSON where standard output is redirected. */
const standardOutput = createLogWriter()
const logStream = process.stderr.isTTY
  ? {
      write(line: string) {
        print(readableLine(line))
        if (!process.stdout.isTTY) standardOutput.write(line)
      },
    }
  : standardOutput

async function main(): Promise<void> {
  const settings = readSettings(process.env)
  if (!cluster.isWorker) {
    const names = Object.values(table).map(({ name }) => name)
    for (const line of misspeltSettings(process.env, names)) print(line)
  }
  // A closed terminal sends SIGHUP, and every write to it fails: replies must finish regardless.
  process.stderr.on('error', () => {})
  const longestStopMs = settings.drainTimeoutS * 1000 + CLOSE_MS
  if (cluster.isWorker) return serveAsWorker(settings, longestStopMs)
  if (settings.workers === 1) return serveAlone(settings, longestStopMs)
  const metrics = createWorkerMetrics()
  await openMetrics(settings, () => metrics.collect(workers.serving()))
  const workers = startWorkers({
    count: settings.workers,
    longestStopMs: longestStopMs + 1000, // each worker enforces its own limit first
    configExitCode: EXIT_CONFIG,
    print,
    onListening: (url) => announce(settings, url),
    exit: (code) => process.exit(code),
    onMessage: metrics.onMessage,
  })
  onStopSignals(workers.stop, workers.kill)
}

async function serveAlone(settings: Settings, longestStopMs: number): Promise<void> {
  const { started, stop, metrics } = serve(settings, longestStopMs)
  onStopSignals(stop, () => process.exit(1))
  await openMetrics(settings, async () => [await metrics()])
  announce(settings, await started)
}

/** Prints the address, and at a terminal also what to do next. */
function announce({ host, publicApiKey, databaseUrl, seedDemo }: Settings, url: string): void {
  print(`Greenroom listens on ${url}`)
  if (!process.stderr.isTTY) return
  const near = ['0.0.0.0', '::'].includes(host) ? `http://localhost:${new URL(url).port}` : url
  const agent = `${near}/api/v1/agents/00000000-0000-4000-8000-000000000001/deploy/chat/completions`
  const key = publicApiKey === null ? '' : `-H "authorization: Bearer $PUBLIC_API_KEY" `
  const body = `'{"stream":true,"messages":[{"role":"user","content":"Hello!"}]}'`
  const curl = `curl -N ${agent} ${key}-H 'content-type: application/json' -d ${body}`
  const hasDemo = databaseUrl === null && seedDemo === 'auto'
  print(`Open ${near} in a browser${hasDemo ? `, or type: ${curl}` : '.'}`)
}

/** Serves as a worker process. Only the primary process counts signals: one sent to the whole group reaches a worker twice. */
async function serveAsWorker(settings: Settings, longestStopMs: number): Promise<void> {
  const { started, stop, metrics } = serve(settings, longestStopMs)
  for (const signal of stopSignals) process.on(signal, stop)
  process.on('message', async (message) => {
    if (message === stopMessage) stop()
    else if (isMetricsQuestion(message)) {
      process.send?.({ ...message, snapshot: await metrics() } satisfies MetricsAnswer)
    }
  })
  process.send?.({ url: await started } satisfies Listening)
}

/** Serves metrics on a separate port, from before the start to the very end. Loaded only when METRICS_PORT is set. */
async function openMetrics({ metricsPort, host }: Settings, collect: () => Promise<MetricsSnapshot[]>): Promise<void> {
  if (metricsPort === null) return
  const { serveMetrics } = await import('./observability/metrics-server.ts')
  const { url } = await serveMetrics({ host, port: metricsPort, collect })
  print(`Metrics: ${url}`)
}

interface Serving {
  /** A promise of its URL. */
  started: Promise<string>
  /** Drains, closes and ends the process. Idempotent. */
  stop(): void
  /** Returns the metrics; none until it has started. */
  metrics(): Promise<MetricsSnapshot>
}

function serve(settings: Settings, longestStopMs: number): Serving {
  let app: App | null = null
  let stopping = false
  const stop = () => {
    // Nothing runs yet: exit at once, as after a crash. PID 1 of a container needs a handler to be stopped at all.
    if (app === null) process.exit(0)
    if (stopping) return
    stopping = true
    setTimeout(() => fail(`Greenroom did not stop within ${longestStopMs / 1000} s.`, 1), longestStopMs).unref()
    app.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error, 1),
    )
  }
  const start = async () => {
    enableCompileCache(compiled)
    // Loaded lazily: a process that only supervises workers needs none of it (100 MB).
    const [{ startApp }, { chooseDataFolder }] = await Promise.all([
      import('./compose/app.ts'),
      import('./compose/start/data-folder.ts'),
    ])
    const chosen = await chooseDataFolder(settings, process.env.DATA_DIR, process.cwd(), print)
    app = await startApp(chosen, logStream)
    setImmediate(app.warmUp) // after whoever waits for this start has been told
    return app.url
  }
  return { started: start(), stop, metrics: async () => (await app?.metrics?.()) ?? [] }
}

const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
/** Process groups and npm deliver one signal twice: a second one within this time is a duplicate (contract section 10). */
const SAME_SIGNAL_MS = 1000

/** Calls `stop` for the first signal; a later one exits at once, as after a crash. */
function onStopSignals(stop: () => void, exitNow: () => void): void {
  let firstAt: number | null = null
  for (const signal of stopSignals) {
    process.on(signal, () => {
      const now = performance.now()
      if (firstAt !== null) {
        if (now - firstAt > SAME_SIGNAL_MS) exitNow()
        return
      }
      firstAt = now
      print(`Greenroom received ${signal}: running replies may finish.`)
      stop()
    })
  }
}

function fail(error: unknown, code: number): never {
  print(error instanceof Error ? error.message : String(error))
  process.exit(code)
}

main().catch((error: unknown) => fail(error, error instanceof SettingsError ? EXIT_CONFIG : 1))
