/** Large modules, a part in each turn of the event loop: loaded as a whole one holds all replies for up to 0.1 s. */
import { setImmediate } from 'node:timers/promises'

/** The parts on which both halves of the MCP SDK build, lowest first. A build divides its files there. */
const common = [
  () => import('zod/v4/locales'),
  () => import('zod/v4/core'),
  () => import('zod/v4'),
  () => import('@modelcontextprotocol/core'),
]

/** The parts of each module, lowest first: the two halves of the MCP SDK, and undici. */
const parts = {
  client: [
    ...common,
    () => import('@modelcontextprotocol/client/validators/ajv'),
    () => import('@modelcontextprotocol/client'),
  ],
  server: [...common, () => import('@modelcontextprotocol/server/validators/ajv')],
  undici: [
    () => import('node:tls'),
    () => import('node:http2'),
    () => import('undici/lib/core/util.js'),
    () => import('undici/lib/dispatcher/client.js'),
    () => import('undici/lib/web/fetch/headers.js'),
    () => import('undici/lib/web/fetch/index.js'),
    () => import('undici/lib/web/websocket/websocket.js'),
    () => import('undici/lib/mock/snapshot-agent.js'),
    () => import('undici/lib/interceptor/cache.js'),
    () => import('undici'),
  ],
}

const loading: Partial<Record<keyof typeof parts, Promise<void>>> = {}

/** Loads the module, or most of it. Rejects when a part cannot be loaded, in later calls too. */
export function loadModuleParts(name: keyof typeof parts): Promise<void> {
  loading[name] ??= load(name)
  return loading[name]
}

async function load(name: keyof typeof parts): Promise<void> {
  for (const part of parts[name]) {
    await part()
    await setImmediate()
  }
}
