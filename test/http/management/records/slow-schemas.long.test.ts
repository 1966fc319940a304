/** Schemas are applied one after the other (contract section 18): what is written meanwhile waits, and is written. */
import { afterAll, expect } from 'vitest'
import { checkArguments } from '../../../../src/tools/schemas/arguments.ts'
import { verifies } from '../../../verifies.ts'
import { openScene } from '../../scene.ts'

const scene = await openScene()
afterAll(scene.close)

const textOf = (pattern: string) => ({ type: 'object', properties: { text: { type: 'string', pattern } } })
let tools = 0
const tool = () => ({
  name: `look_${++tools}`,
  description: 'Looks.',
  method: 'GET',
  url: 'https://x.example',
  inputSchema: textOf('^a'),
})

/** Keep the process busy, each until its time limit, as the schemas of hostile MCP servers may: longer than a pause may be. */
const occupy = (...ends: string[]) =>
  Promise.all(ends.map((end) => checkArguments(textOf(`^(a+)+${end}$`), { text: `${'a'.repeat(60)}!` }, end)))

const ways: Record<string, () => Promise<void>> = {
  async 'an import'() {
    const imported = await scene.call('POST', '/api/v1/import', { version: 1, httpTools: [tool()] })
    expect([imported.status, imported.json]).toEqual([200, { created: 1, updated: 0, skipped: [] }])
  },
  async 'a change'() {
    const made = await scene.call('POST', '/api/v1/http-tools', { ...tool(), inputSchema: { type: 'object' } })
    const changed = await scene.call('PUT', `/api/v1/http-tools/${made.json.id}`, { inputSchema: textOf('^b') })
    expect([changed.status, changed.json.inputSchema]).toEqual([200, textOf('^b')])
  },
}

for (const [name, isWritten] of Object.entries(ways)) {
  verifies('contract-18.import', `${name} waits for schemas of others, and is written`, async () => {
    const busy = occupy('b', 'c')
    await isWritten()
    expect(await busy).toEqual(Array(2).fill(expect.stringContaining('takes too long')))
  })
}
