/**
 * Loads a large module as the product does, and prints how many bytes of source came in the largest turn of the event
 * loop, and in all: `node loaded-per-turn.ts client|server|undici`. The first two are the halves of the MCP SDK.
 */
import { registerHooks } from 'node:module'
import { loadModuleParts } from '../../../src/async/module-parts.ts'

const turns = [0]
let isLoading = true
const count = () => {
  turns.push(0)
  if (isLoading) setImmediate(count)
}
setImmediate(count)

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (url.includes('/node_modules/')) turns.push((turns.pop() ?? 0) + Buffer.byteLength(loaded.source ?? ''))
    return loaded
  },
})

const packages = { client: '@modelcontextprotocol/client', server: '@modelcontextprotocol/server', undici: 'undici' }
const name = process.argv[2]
if (name !== 'client' && name !== 'server' && name !== 'undici') throw new Error(`No such module: ${name}`)
await loadModuleParts(name)
await import(packages[name])
isLoading = false
console.log(JSON.stringify({ largest: Math.max(...turns), all: turns.reduce((sum, bytes) => sum + bytes, 0) }))
