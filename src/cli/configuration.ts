/** `greenroom import` and `greenroom export`: the configuration of a running server, as a file. */
import { readFile, writeFile } from 'node:fs/promises'
import type { ImportResult } from '../../openapi/generated/schema.ts'
import { withEnvironment, withNames } from './environment.ts'
import type { Terminal } from './terminal.ts'
import { unusable } from './unusable.ts'

export interface Server {
  /** GREENROOM_URL. */
  url: string
  /** GREENROOM_LOGIN, `username:password`, if it needs a login. */
  login: string | undefined
  /** GREENROOM_KEY: a management key, in place of a login. */
  key: string | undefined
}

const importPath = '/api/v1/import'
/** Characters of another server's answer that are shown. */
const MOST_QUOTED = 100

export async function send(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init).catch((error: Error) => {
    throw new Error(`GREENROOM_URL: ${url} cannot be reached (${error.cause ?? error.message}).`)
  })
  if (response.ok) return response
  const text = await response.text()
  // Every refusal of ours has a message, also those of paths that are not there. Another server's may be a whole page.
  const isOurs = text.includes('"message"')
  const said = `${new URL(url).pathname} answered ${response.status}: ${isOurs ? text : text.slice(0, MOST_QUOTED)}`
  if (response.status === 401)
    throw new Error(`${said}\nSet GREENROOM_KEY to a management key, or GREENROOM_LOGIN to username:password.`)
  throw new Error(isOurs ? said : `${said}\nIs there a Greenroom at ${new URL(url).origin}? GREENROOM_URL names it.`)
}

const post = (url: string, type: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  send(url, { method: 'POST', headers: { 'content-type': type, ...headers }, body })

/** Authenticates and returns the headers with the cookie or key: none where the server requires no login. */
export async function logIn({ url, login, key }: Server): Promise<Record<string, string>> {
  if (key !== undefined) return { authorization: `Bearer ${key}` }
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
  { terminal, environment, isTried, draft }: Importing,
): Promise<number> {
  const text = await readFile(path, 'utf8').catch(unusable('read', path))
  // JSON is valid YAML, but under its own type it is parsed faster and exactly.
  const isJson = path.endsWith('.json')
  const filled = withEnvironment(text, isJson, environment)
  const headers = await logIn(server)
  const target = `${server.url}${importPath}${draft ? '?draft=true' : isTried ? '?dryRun=true' : ''}`
  const response = await post(target, isJson ? 'application/json' : 'application/yaml', filled, headers)
  const { created, updated, skipped, changes = [] } = (await response.json()) as ImportResult // guaranteed by the contract
  for (const change of changes) terminal.out(changeWords(change))
  const would = isTried ? 'Would have created' : 'Created'
  if (draft) terminal.out(`Drafts changed: ${updated}, skipped: ${skipped.length}.`)
  else terminal.out(`${would} ${created}, updated ${updated}, skipped ${skipped.length}.`)
  for (const { kind, name, reason } of skipped) terminal.err(`Skipped ${kind} ${JSON.stringify(name)}: ${reason}`)
  return skipped.length === 0 ? 0 : 1
}

interface Importing {
  terminal: Terminal
  environment: Readonly<Record<string, string | undefined>>
  /** Whether nothing is to be changed, and the difference printed. */
  isTried: boolean
  draft: boolean
}

/** Returns lines such as `update agent "Support": model "a" -> "b"`. A secret's two sides read alike. */
function changeWords({ action, kind, name, changes }: NonNullable<ImportResult['changes']>[number]): string {
  const fields = Object.entries(changes).map(([field, { from, to }]) => {
    const [was, is] = [JSON.stringify(from), JSON.stringify(to)]
    return `\n  ${field}: ${was === is ? 'its secret is sent again' : `${was} -> ${is}`}`
  })
  return `${action} ${kind} ${JSON.stringify(name)}${action === 'update' ? fields.join('') : ''}`
}

/** Writes to standard output if no path is given. Secrets stand in it as names of variables, for `import`. */
export async function exportFile(server: Server, path: string | undefined, terminal: Terminal): Promise<number> {
  const response = await send(`${server.url}/api/v1/export?providers=whole`, { headers: await logIn(server) })
  const text = withNames(await response.text())
  if (path === undefined) terminal.out(text)
  else await writeFile(path, `${text}\n`).catch(unusable('written', path))
  return 0
}
