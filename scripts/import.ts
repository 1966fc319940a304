/**
 * `npm run import FILE`: imports a configuration (YAML or JSON, as exported by `GET /api/v1/export`) into a server.
 * GREENROOM_URL is its address (default http://127.0.0.1:8080), GREENROOM_LOGIN is `username:password` if it needs a
 * login. Exit code 0: everything was imported; 1: some records were skipped, each with a reason; 2: nothing was
 * imported.
 */
import { readFile } from 'node:fs/promises'
import { argv, env, exit } from 'node:process'
import type { ImportResult } from '../openapi/generated/schema.ts'

const url = (env.GREENROOM_URL || 'http://127.0.0.1:8080').replace(/\/+$/, '')

async function post(path: string, type: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': type, ...headers }, body })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return response
}

/** The cookie of a login. */
async function logIn(login: string): Promise<Record<string, string>> {
  const colon = login.indexOf(':')
  const credentials = { username: login.slice(0, colon), password: login.slice(colon + 1) }
  const response = await post('/api/auth/login', 'application/json', JSON.stringify(credentials))
  return {
    cookie: response.headers
      .getSetCookie()
      .map((one) => one.split(';', 1)[0])
      .join('; '),
  }
}

async function importFile(path: string): Promise<number> {
  const text = await readFile(path, 'utf8')
  const headers = env.GREENROOM_LOGIN ? await logIn(env.GREENROOM_LOGIN) : {}
  // JSON is valid YAML, but under its own type it is parsed faster and exactly.
  const type = path.endsWith('.json') ? 'application/json' : 'application/yaml'
  const response = await post('/api/v1/import', type, text, headers)
  const { created, updated, skipped } = (await response.json()) as ImportResult // guaranteed by the contract
  console.log(`Created ${created}, updated ${updated}, skipped ${skipped.length}.`)
  for (const { kind, name, reason } of skipped) console.error(`Skipped ${kind} ${JSON.stringify(name)}: ${reason}`)
  return skipped.length === 0 ? 0 : 1
}

const [, , file] = argv
if (file === undefined) {
  console.error('Usage: npm run import FILE')
  exit(2)
}
exit(
  await importFile(file).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error))
    return 2
  }),
)
