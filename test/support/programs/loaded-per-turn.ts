/**
 * Loads the MCP client or server as the product does, and prints how many bytes of source came in the largest turn of the
 * event loop, and in all: `node loaded-per-turn.ts client|server`.
 */
import { registerHooks } from 'node:module'
import { loadMcpParts } from '../../../src/async/mcp-parts.ts'

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

const half = process.argv[2] === 'server' ? 'server' : 'client'
await loadMcpParts(half)
await import(`@modelcontextprotocol/${half}`)
isLoading = false
console.log(JSON.stringify({ largest: Math.max(...turns), all: turns.reduce((sum, bytes) => sum + bytes, 0) }))
