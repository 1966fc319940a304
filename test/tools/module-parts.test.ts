/** Large modules are loaded while replies run, where what needs them is made later than the start (contract section 18). */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { verifies } from '../verifies.ts'

const program = fileURLToPath(new URL('../support/programs/loaded-per-turn.ts', import.meta.url))

const modules = { client: 'the MCP client', server: 'the MCP server', undici: 'the client of providers and tools' }

for (const [name, words] of Object.entries(modules)) {
  verifies('contract-18.loaded-first', `${words} is loaded in parts, with turns for others between`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, name])
    const { largest, all } = JSON.parse(stdout)
    expect(all).toBeGreaterThan(0)
    expect(largest).toBeLessThan(0.4 * all)
  })
}
