#!/usr/bin/env node
// The package's command. It runs on any Node.js, to say so when it is too old, and becomes the process with the flags of
// `npm start`: same process id, no parent that would have to pass on signals.

const needed = [22, 19]
const flags = [
  '--max-semi-space-size=16',
  '--heap-growing-percent=100',
  '--v8-pool-size=1',
  '--disable-warning=ExperimentalWarning', // node:sqlite, which locks the data folder
]

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(`Greenroom needs Node.js ${needed.join('.')} or newer; this is ${process.versions.node}.\n`)
  process.exit(1)
}
if (!flags.every((flag) => process.execArgv.includes(flag))) {
  const [node, ...args] = process.argv
  const env = { MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '6', ...process.env }
  process.execve(process.execPath, [node, ...process.execArgv, ...flags, ...args], env)
}
await import('../src/cli/main.js')
