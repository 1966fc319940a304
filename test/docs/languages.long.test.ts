/** The programs of docs/other-languages.md, each where its language is installed, and what the page says that they print. */
import { execFile, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../support/app.ts'
import { temporaryFolder } from '../support/folder.ts'
import { deployUrl } from '../support/programs/product.ts'
import { blocksOf } from './blocks.ts'

const run = promisify(execFile)
const app = await startTestApp({ settings: { PUBLIC_API_KEY: 'the-key' } })
afterAll(() => app[Symbol.asyncDispose]())
const { agentId } = await createAgent(app, { type: 'demo' })

const blocks = blocksOf('docs/other-languages.md')
const codeIn = (language: string): string => blocks.find((block) => block.language === language)?.code ?? ''
const printed = codeIn('text').trimEnd().split('\n')
const isThere = (...command: [string, ...string[]]): boolean => spawnSync(command[0], command.slice(1)).status === 0

async function linesOf(command: string, args: readonly string[], file: string, code: string): Promise<string[]> {
  const path = join(await temporaryFolder('language'), file)
  await writeFile(path, code)
  const env = { ...process.env, AGENT: deployUrl(app.url, agentId), KEY: 'the-key' }
  const { stdout } = await run(command, [...args, path], { env })
  return stdout.trimEnd().split('\n')
}

test.skipIf(!isThere('python3', '--version'))('the Python program prints what the page says', async () => {
  expect(await linesOf('python3', [], 'talk.py', codeIn('python'))).toEqual(printed)
})

test.skipIf(!isThere('go', 'version'))('the Go program prints what the page says', async () => {
  expect(await linesOf('go', ['run'], 'talk.go', codeIn('go'))).toEqual(printed.slice(0, 2))
})
