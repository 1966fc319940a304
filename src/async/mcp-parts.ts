/** The MCP SDK, a part in each turn of the event loop: loaded as a whole it holds all replies for 0.1 s. */
import { setImmediate } from 'node:timers/promises'

/** The parts on which both halves build, lowest first. A build divides its files there. */
const common = [
  () => import('zod/v4/locales'),
  () => import('zod/v4/core'),
  () => import('zod/v4'),
  () => import('@modelcontextprotocol/core'),
]

/** The parts of each half, lowest first. */
const parts = {
  client: [
    ...common,
    () => import('@modelcontextprotocol/client/validators/ajv'),
    () => import('@modelcontextprotocol/client'),
  ],
  server: [...common, () => import('@modelcontextprotocol/server/validators/ajv')],
}

const loading: { client?: Promise<void>; server?: Promise<void> } = {}

/** Loads the SDK's client, or most of its server. Rejects when a part cannot be loaded, in later calls too. */
export function loadMcpParts(half: 'client' | 'server'): Promise<void> {
  loading[half] ??= load(half)
  return loading[half]
}

async function load(half: 'client' | 'server'): Promise<void> {
  for (const part of parts[half]) {
    await part()
    await setImmediate()
  }
}
