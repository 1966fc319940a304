import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { filesOf, quickFiles, root } from './test/support/quick-files.ts'
import { tier } from './test/support/tier.ts'
import { isTimed } from './test/support/time-left.ts'
import { WAIT_MS } from './test/support/wait.ts'

/** A file that is named runs whatever its tier. */
const isNamed = process.argv.some((word) => word.includes('.long'))
const files = isNamed ? ['test/**/*.test.ts'] : filesOf(tier)
/** Quick files that need a process each: they count its timers and threads, or how V8 has laid out its objects. */
const alone = [
  'actors/reply/remote-reply',
  'fast-objects',
  'providers/model',
  'providers/no-freeze.long',
  'providers/token-count',
]
  .map((name) => `test/${name}.test.ts`)
  .filter((file) => isNamed || filesOf(tier).includes(file))
const quick = tier === 'long' ? [] : quickFiles().filter((file) => !alone.includes(file))

/** On a machine three times as slow, leases of seconds would end before their owners had their turn. */
function isFast(): boolean {
  const begin = performance.now()
  createHash('sha256')
    .update(Buffer.alloc(2 ** 25))
    .digest()
  return performance.now() - begin < 40 // 21 ms where 2.5 workers were tried
}

// Each process compiles the same packages: 0.6 s of processor time for the whole app, 0.4 s from the cache that the first
// of them have filled.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/node-compile')

export default defineConfig({
  test: {
    // Several processes, each for one file after the other: half of a small file's processor time was the start of its own
    // process and the loading of the app. What a file starts it stops, but for the apps that all of a process share
    // (test/support/app.ts); what it counts it counts from where it began. Node loads the modules, as in production, which
    // takes 7 % less processor time than vite's own loader.
    pool: 'forks',
    isolate: false,
    // A fifth of a worker's processor time was V8's own threads', mostly marking what earlier files had loaded.
    execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=64', '--initial-old-space-size=512'],
    experimental: { viteModuleRunner: false },
    // Those with leases and processes mostly wait: with 1.5 for each core a third of the processor was idle, and a run took
    // 527 s instead of 404.
    maxWorkers: Math.ceil((isFast() ? 2.5 : 1.5) * availableParallelism()),
    testTimeout: 2 * WAIT_MS,
    // Nothing is repeated in the short tier. In the long one a machine that stands still for longer than a lease fails tests
    // whose rule holds, another one each time: CI repeats a failed test once, and its report names it.
    retry: process.env.CI && tier === 'long' ? 1 : 0,
    hookTimeout: 3 * WAIT_MS,
    expect: { poll: { timeout: WAIT_MS } },
    sequence: { sequencer: LongestFirst },
    reporters: ['default'],
    setupFiles: isTimed ? ['test/support/within-time.ts'] : [],
    projects: [
      { extends: true, test: { name: 'quick', include: quick } },
      { extends: true, test: { name: 'alone', include: alone, isolate: true } },
      {
        extends: true,
        test: {
          name: 'real',
          include: files,
          exclude: ['**/node_modules/**', ...quick, ...alone],
          // Torn down in reverse: what fails the run comes after the servers have been stopped.
          globalSetup: ['test/support/after-whole-run.ts', 'test/support/global-setup.ts'],
        },
      },
    ],
  },
})
