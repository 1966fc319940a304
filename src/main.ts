/** Owns the process: settings, signals, exit code. The only file that touches `process`. */
import { type App, startApp } from './app.ts'
import { readSettings, SettingsError } from './settings.ts'

/** EX_CONFIG of sysexits.h: a setting is wrong, starting again will not help. */
const EXIT_CONFIG = 78
/** Longest stop beyond the drain: outcomes (5 s), last bytes (1 s), connections, the database's own end (15 s, then by force). */
const CLOSE_MS = 30_000

const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

async function main(): Promise<void> {
  const settings = readSettings(process.env)
  // A terminal that was closed sends SIGHUP and takes no more lines: that must not keep replies from finishing.
  process.stderr.on('error', () => {})
  let app: App | null = null
  onStopSignals((signal) => {
    // Nothing runs yet: at once, as after a crash. A container's first process needs a handler to be stopped at all.
    if (app === null) process.exit(0)
    say(`Greenroom received ${signal} and lets its replies finish.`)
    const longestMs = settings.drainTimeoutS * 1000 + CLOSE_MS
    setTimeout(() => fail(`Greenroom did not stop within ${longestMs / 1000} s.`, 1), longestMs).unref()
    app.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error, 1),
    )
  })
  app = await startApp(settings)
  say(`Greenroom listens on ${app.url}`)
}

/** Calls for the first signal; a second one leaves at once, as after a crash. */
function onStopSignals(stop: (signal: NodeJS.Signals) => void): void {
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1)
      stopping = true
      stop(signal)
    })
  }
}

function fail(error: unknown, code: number): never {
  say(error instanceof Error ? error.message : String(error))
  process.exit(code)
}

main().catch((error: unknown) => fail(error, error instanceof SettingsError ? EXIT_CONFIG : 1))
