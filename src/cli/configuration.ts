/** `greenroom import` and `greenroom export`: the configuration of a running server, as a file. */
import { readFile, writeFile } from 'node:fs/promises'
import type { ImportResult } from '../../openapi/generated/schema.ts'
import type { Terminal } from './terminal.ts'
import { unusable } from './unusable.ts'

export interface Server {
  /** GREENROOM_URL. */
  url: string
  /** GREENROOM_LOGIN, `username:password`, if it needs a login. */
  login: string | undefined
}

const importPath = '/api/v1/import'

export async function send(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init).catch((error: Error) => {
    throw new Error(`GREENROOM_URL: ${url} cannot be reached (${error.cause ?? error.message}).`)
  })
  if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}: ${await response.text()}`)
  return response
}

const post = (url: string, type: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  send(url, { method: 'POST', headers: { 'content-type': type, ...headers }, body })

/** Authenticates and returns the headers with the cookie: none where the server requires no login. */
export async function logIn({ url, login }: Server): Promise<Record<string, string>> {
  if (login === undefined) return {}
  const colon = login.indexOf(':')
  if (colon < 1) throw new Error('GREENROOM_LOGIN: is not of the form username:password.')
  const credentials = { username: login.slice(0, colon), password: login.slice(colon + 1) }
  const response = await post(`${url}/api/auth/login`, 'application/json', JSON.stringify(credentials))
  return {
    cookie: response.headers
      .getSetCookie()
      .map((one) => one.split(';', 1)[0])
      .join('; '),
  }
}

/**
 * Imports a file. 0: everything was imported; 1: some records were skipped, each with a reason. Rejects if nothing was
 * imported. `draft`: only the drafts of agents are changed, for somebody to publish.
 */
export async function importFile(
  server: Server,
  path: string,
  terminal: Terminal,
  { draft }: { draft: boolean },
): Promise<number> {
  const text = await readFile(path, 'utf8').catch(unusable('read', path))
  const headers = await logIn(server)
  // JSON is valid YAML, but under its own type it is parsed faster and exactly.
  const type = path.endsWith('.json') ? 'application/json' : 'application/yaml'
  const response = await post(`${server.url}${importPath}${draft ? '?draft=true' : ''}`, type, text, headers)
  const { created, updated, skipped } = (await response.json()) as ImportResult // guaranteed by the contract
  if (draft) terminal.out(`Changed the drafts of ${updated} agents, skipped ${skipped.length}.`)
  else terminal.out(`Created ${created}, updated ${updated}, skipped ${skipped.length}.`)
  for (const { kind, name, reason } of skipped) terminal.err(`Skipped ${kind} ${JSON.stringify(name)}: ${reason}`)
  return skipped.length === 0 ? 0 : 1
}

/** Writes to standard output if no path is given. `***` stands for secrets. */
export async function exportFile(server: Server, path: string | undefined, terminal: Terminal): Promise<number> {
  const response = await send(`${server.url}/api/v1/export`, { headers: await logIn(server) })
  const text = JSON.stringify(await response.json(), null, 2)
  if (path === undefined) terminal.out(text)
  else await writeFile(path, `${text}\n`).catch(unusable('written', path))
  return 0
}
