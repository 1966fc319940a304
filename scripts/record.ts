/**
 * `npm run record -- anthropic claude-haiku-4-5` (or `gemini gemini-2.5-flash`), with ANTHROPIC_API_KEY or
 * GEMINI_API_KEY set: asks the vendor three short questions and writes its responses, without keys and ids, to
 * test/providers/fixtures/; `npm run fix` then formats them. Costs less than a cent.
 */
import { writeFile } from 'node:fs/promises'
import { type Fixture, record } from './vendor-fixture.ts'

const keys = { anthropic: 'ANTHROPIC_API_KEY', gemini: 'GEMINI_API_KEY' } as const
const [vendor, model] = process.argv.slice(2)
if ((vendor !== 'anthropic' && vendor !== 'gemini') || !model) {
  console.error('Usage: npm run record -- anthropic|gemini MODEL')
  process.exit(64)
}
const key = process.env[keys[vendor]]
if (!key) {
  console.error(`${keys[vendor]} is not set.`)
  process.exit(64)
}
const exchanges = await record(vendor, model, key, globalThis.fetch)
const date = new Date().toISOString().slice(0, 10)
const fixture: Fixture = { vendor, model, source: 'recorded', date, exchanges }
const file = new URL(`../test/providers/fixtures/${vendor}.json`, import.meta.url)
await writeFile(file, `${JSON.stringify(fixture, null, 2)}\n`)
for (const { name, response } of exchanges) console.log(`${name}: ${response.status}`)
