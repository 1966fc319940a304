/** Owns the process: settings, signals, exit code. The only file that touches `process`. */
import { type App, startApp } from './app.ts'
import { readSettings, SettingsError } from './settings.ts'

/** EX_CONFIG of sysexits.h: a setting is wrong, starting again will not help. */
const EXIT_CONFIG = 78

const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

async function main(): Promise<void> {
  const app = await startApp(readSettings(process.env))
  say(`Greenroom listens on ${app.url}`)
  stopOnSignals(app)
}

/** The first signal drains; a second one leaves at once, as after a crash. */
function stopOnSignals(app: App): void {
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1)
      stopping = true
      say(`Greenroom received ${signal} and lets its replies finish.`)
      app.stop().then(
        () => process.exit(0),
        (error: unknown) => fail(error, 1),
      )
    })
  }
}

function fail(error: unknown, code: number): never {
  say(error instanceof Error ? error.message : String(error))
  process.exit(code)
}

main().catch((error: unknown) => fail(error, error instanceof SettingsError ? EXIT_CONFIG : 1))
