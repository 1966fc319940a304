/**
 * `npm run check`: all static checks, in parallel, since most of them are single-threaded processes. The output of each
 * is printed when it has ended; exit code 1 if any failed. `tsc` is TypeScript 7 (@typescript/native): it takes half the
 * processor time of 5.9, which stays as the library of what needs its interface (openapi-typescript, the client's build).
 * One checker each, since another check uses the other core: 12 s of processor time for the largest instead of 20 s.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'

/** Longest first. */
const checks = [
  'biome check',
  'tsc --checkers 1',
  'depcruise src openapi test ui/src packages/client/src packages/conformance/src bench scripts --config .dependency-cruiser.mjs',
  'npm run --silent generate:check',
  'node scripts/words.ts',
  'tsc --checkers 1 -p ui',
  'node scripts/capabilities.ts',
  'tsc --checkers 1 -p examples',
  'tsc --checkers 1 -p packages/client',
  'tsc --checkers 1 -p packages/conformance',
]

const failed: string[] = []

async function run(command: string): Promise<void> {
  const began = performance.now()
  const child = spawn('/bin/sh', ['-c', `${command} 2>&1`], { stdio: ['ignore', 'pipe', 'inherit'] })
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  const output = (await text(child.stdout)).trim()
  const passed = (await code) === 0
  if (!passed) failed.push(command)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${seconds} s  ${command}${output === '' ? '' : `\n${output}`}`)
}

const waiting = [...checks]
async function runAll(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next)
}
await Promise.all(Array.from({ length: availableParallelism() }, runAll))
if (failed.length > 0) {
  console.error(`Failed: ${failed.join('; ')}`)
  process.exitCode = 1
}
