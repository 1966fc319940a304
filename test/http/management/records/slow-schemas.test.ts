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

verifies('contract-18.import', 'an import and a change wait for schemas of others, and are written', async () => {
  const first = occupy('b', 'c')
  const imported = await scene.call('POST', '/api/v1/import', { version: 1, httpTools: [tool()] })
  expect([imported.status, imported.json]).toEqual([200, { created: 1, updated: 0, skipped: [] }])
  expect(await first).toEqual(Array(2).fill(expect.stringContaining('takes too long')))
  const [{ id }] = (await scene.call('GET', '/api/v1/http-tools')).json.httpTools
  const second = occupy('d', 'e')
  const changed = await scene.call('PUT', `/api/v1/http-tools/${id}`, { inputSchema: textOf('^b') })
  expect([changed.status, changed.json.inputSchema]).toEqual([200, textOf('^b')])
  expect(await second).toEqual(Array(2).fill(expect.stringContaining('takes too long')))
})
