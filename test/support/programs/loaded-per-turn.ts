/**
 * Loads a large module as the product does, and prints how many bytes of source came in the largest turn of the event
 * loop, and in all: `node loaded-per-turn.ts client|server|undici`. The first two are the halves of the MCP SDK.
 */
import { registerHooks } from 'node:module'
import { loadMcpClient, loadMcpServer } from '../../../src/async/mcp-parts.ts'
import { loadUndici } from '../../../src/tools/outbound/undici-parts.ts'

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

const modules = new Map([
  ['client', { load: loadMcpClient, name: '@modelcontextprotocol/client' }],
  ['server', { load: loadMcpServer, name: '@modelcontextprotocol/server' }],
  ['undici', { load: loadUndici, name: 'undici' }],
])
const module = modules.get(process.argv[2] ?? '')
if (module === undefined) throw new Error(`No such module: ${process.argv[2]}`)
await module.load()
await import(module.name)
isLoading = false
console.log(JSON.stringify({ largest: Math.max(...turns), all: turns.reduce((sum, bytes) => sum + bytes, 0) }))
