/** The MCP SDK, a part in each turn of the event loop: loaded as a whole it holds all replies for 0.1 s. */
import { glob } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

/** The larger modules of each half and of what it builds on, lowest first. */
const parts = {
  zod: ['v4/core/schemas.js', 'v4/locales/index.js', 'v4/core/index.js', 'v4/index.js'],
  core: ['dist/auth-*.mjs', 'dist/schemas-*.mjs', 'dist/index.mjs', 'dist/internal.mjs'],
  client: ['dist/shimsNode.mjs', 'dist/src-*.mjs', 'dist/public-*.mjs', 'dist/index.mjs'],
  server: ['dist/shimsNode.mjs', 'dist/src-*.mjs', 'dist/mcp-*.mjs', 'dist/index.mjs'],
}

const loading: { client?: Promise<void>; server?: Promise<void> } = {}

/** Loads the SDK's client or server. Never rejects: a part that is not found is loaded with the whole. */
export function loadMcpParts(half: 'client' | 'server'): Promise<void> {
  loading[half] ??= load(half).catch(() => {})
  return loading[half]
}

async function load(half: 'client' | 'server'): Promise<void> {
  const whole = findPackageJSON(`@modelcontextprotocol/${half}`, import.meta.url)
  const core = whole && findPackageJSON('@modelcontextprotocol/core', pathToFileURL(whole))
  const zod = core && findPackageJSON('zod', pathToFileURL(core))
  await loadEach(zod, parts.zod)
  await loadEach(core, parts.core)
  await loadEach(whole, parts[half])
}

async function loadEach(packageJson: string | undefined, patterns: readonly string[]): Promise<void> {
  if (packageJson === undefined) return
  const folder = dirname(packageJson)
  for (const pattern of patterns) {
    for await (const file of glob(pattern, { cwd: folder })) {
      await setImmediate()
      await import(pathToFileURL(join(folder, file)).href)
    }
  }
  await setImmediate()
}
