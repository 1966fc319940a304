/** The MCP SDK is loaded while replies run, where a server is made later than the start (contract section 18). */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { verifies } from '../../verifies.ts'

const program = fileURLToPath(new URL('../../support/programs/loaded-per-turn.ts', import.meta.url))

for (const half of ['client', 'server']) {
  verifies(
    'contract-18.loaded-first',
    `the MCP ${half} is loaded in parts, with turns for others between`,
    async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [program, half])
      const { largest, all } = JSON.parse(stdout)
      expect(all).toBeGreaterThan(0)
      expect(largest).toBeLessThan(0.4 * all)
    },
  )
}
