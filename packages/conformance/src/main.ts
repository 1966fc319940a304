#!/usr/bin/env node
/** The process of the command: its arguments, its output, SIGINT, its exit code. */
import { runCommand } from './command.ts'

/** The longest that a run goes on after SIGINT. */
const END_MS = 1500

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    stopping.abort()
    setTimeout(() => process.exit(1), END_MS)
  })
}

const { stdout: out, stderr: err } = process
process.exitCode = await runCommand(process.argv.slice(2), { out, err, signal: stopping.signal })
process.exit()
