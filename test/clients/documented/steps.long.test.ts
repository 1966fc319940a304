/**
 * The steps of OpenAI's documentation, as programs of their own: through the official client, and in Python through plain HTTP.
 * docs/responses-steps.md is made of what they print (vitest run -u).
 */
import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { createAgent, startTestApp } from '../../support/app.ts'
import { verifies } from '../../verifies.ts'
import { startModel } from './model.js'

const run = promisify(execFile)
const model = await startModel()
const app = await startTestApp({ settings: { PUBLIC_API_KEY: 'the-key' } })
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await model.close()
})
await createAgent(app, { name: 'Another' })
await createAgent(app, { name: 'Steps', type: 'openai-compatible', baseUrl: model.url })

interface Told {
  step: string
  outcome: 'works' | 'refused' | 'fails'
  words: string
}

/** Runs a program. Returns what became of its steps. */
async function stepsOf(command: string, file: string): Promise<Told[]> {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const { stdout } = await run(command, [path, `${app.url}/api/v1/openai`, 'the-key', 'Steps'], { env })
  return stdout
    .trimEnd()
    .split('\n')
    .map((line): Told => JSON.parse(line))
}

const head = `<!-- Written by test/clients/documented/steps.long.test.ts (vitest run -u). Do not edit. -->

# Steps of OpenAI's documentation

Programs that follow OpenAI's public documentation step by step, unmodified but for the base URL and the model: in JavaScript
through the official client, and in Python through plain HTTP. *Refused*: the answer is 400 or 409, names the field, and says what
to use instead.

| | Step | Here | Instead |
|---|---|---|---|
`
const rowOf = ({ step, outcome, words }: Told, index: number) =>
  `| ${index + 1} | ${step} | ${outcome} | ${words === '' ? '–' : words} |`

verifies(
  'contract-32.surface',
  'each documented step works through the official client, or is refused by name',
  async () => {
    const steps = await stepsOf(process.execPath, 'steps.js')
    expect(steps.filter(({ outcome }) => outcome === 'fails')).toEqual([])
    const page = `${head}${steps.map(rowOf).join('\n')}\n`
    await expect(page).toMatchFileSnapshot('../../../docs/responses-steps.md')
  },
)

test.skipIf(spawnSync('python3', ['--version']).status !== 0)('the Python program sees the same', async () => {
  expect(await stepsOf('python3', 'steps.py')).toEqual(await stepsOf(process.execPath, 'steps.js'))
})
