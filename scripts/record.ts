/**
 * `npm run record -- anthropic claude-haiku-4-5` (or `gemini gemini-2.5-flash`), with ANTHROPIC_API_KEY or
 * GEMINI_API_KEY set: asks the vendor three short questions and writes what it answered, without keys and ids, to
 * test/providers/cassettes/; then `npm run fix` formats it. Costs less than a cent.
 */
import { writeFile } from 'node:fs/promises'
import { type Cassette, tape } from './cassette.ts'

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
const taped = await tape(vendor, model, key, globalThis.fetch)
const cassette: Cassette = { vendor, model, source: `recorded ${new Date().toISOString().slice(0, 10)}`, taped }
const file = new URL(`../test/providers/cassettes/${vendor}.json`, import.meta.url)
await writeFile(file, `${JSON.stringify(cassette, null, 2)}\n`)
for (const { name, response } of taped) console.log(`${name}: ${response.status}`)
