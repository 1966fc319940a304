import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { quickFiles, root } from './test/support/quick-files.ts'
import { WAIT_MS } from './test/support/wait.ts'

const quick = quickFiles()

// Each process compiles the same packages: 0.6 s of processor time for the whole app, 0.4 s from the cache that the first
// of them have filled.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/node-compile')

export default defineConfig({
  test: {
    // Several processes, each for one file after the other: half of a small file's processor time was the start of its own
    // process and the loading of the app. What a file starts it stops; what it counts it counts from where it began. Node
    // loads the modules, as in production, which takes 7 % less processor time than vite's own loader.
    pool: 'forks',
    isolate: false,
    experimental: { viteModuleRunner: false },
    // Most files wait for processes, leases and pages most of the time.
    maxWorkers: 2 * availableParallelism(),
    testTimeout: 2 * WAIT_MS,
    hookTimeout: 3 * WAIT_MS,
    expect: { poll: { timeout: WAIT_MS } },
    sequence: { sequencer: LongestFirst },
    reporters: ['default'],
    projects: [
      // A process each: several count the timers that are left.
      { extends: true, test: { name: 'quick', include: quick, isolate: true } },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...quick],
          // Torn down in reverse: what fails the run comes after the servers have been stopped.
          globalSetup: ['test/support/after-whole-run.ts', 'test/support/global-setup.ts'],
        },
      },
    ],
  },
})
