/** The client scenarios of @modelcontextprotocol/conformance, run against our MCP client in a separate process. */
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished } from 'vitest'
import { verifies } from '../../verifies.ts'

const suite = join(
  createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'),
  '../dist/index.js',
)
const client = new URL('./conformance-client.ts', import.meta.url).pathname

/** The table of docs/design/mcp-client.md: each scenario with its result, and the ids of the checks that fail. */
const table = new Map(
  readFileSync(new URL('../../../docs/design/mcp-client.md', import.meta.url), 'utf8')
    .matchAll(/^\| `([^`]+)` \| ([^|]+) \| (.*)\|$/gm)
    .map(([, scenario = '', result = '', checks = '']) => {
      const failing = [...checks.matchAll(/`([^`]+)`/g)].map(([, id = '']) => id)
      return [scenario, { result, failing }]
    }),
)

/** Returns the scenarios of the suite that is installed. */
function scenarios(): string[] {
  const listed = execFileSync(process.execPath, [suite, 'list', '--client'], { encoding: 'utf8' })
  return [...listed.matchAll(/^ +- (\S+)/gm)].map(([, name = '']) => name)
}

interface Check {
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED'
  errorMessage?: string
}

/** The suite's own checks of a scenario. */
async function checksOf(scenario: string): Promise<Check[]> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-conformance-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const command = `${process.execPath} ${client}`
  const args = ['client', '--command', command, '--scenario', scenario, '--output-dir', folder]
  const ended = promisify(execFile)(process.execPath, [suite, ...args], { cwd: folder })
  const { stdout, stderr } = await ended.catch((error: { stdout: string; stderr: string }) => error)
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('checks.json'))
  expect(files, `${stdout}\n${stderr}`).toHaveLength(1)
  return JSON.parse(await readFile(join(folder, String(files[0])), 'utf8'))
}

describe('MCP client conformance', () => {
  verifies(
    'contract-6.mcp',
    'the table has every scenario of the suite, and a reason for each that does not pass',
    () => {
      expect([...table.keys()]).toEqual(scenarios())
      for (const { result, failing } of table.values())
        expect(result).toMatch(failing.length === 0 ? /^passes$/ : /^(?:not built|refused): \w+/)
    },
  )

  for (const [scenario, { result, failing }] of table) {
    verifies('contract-6.mcp', `${scenario} ${result.replace(/:.*/, '')}`, async () => {
      const judged = (await checksOf(scenario)).filter(({ status }) => status !== 'INFO')
      expect(judged.length).toBeGreaterThan(0)
      expect(judged.filter(({ status, id }) => status !== 'SUCCESS' && !failing.includes(id))).toEqual([])
      expect(new Set(judged.filter(({ status }) => status !== 'SUCCESS').map(({ id }) => id))).toEqual(new Set(failing))
    })
  }
})
