/** `greenroom key create NAME`: a key of a running server, for the first one and for scripts. */
import type { components } from '../../openapi/generated/schema.ts'
import { logIn, type Server, send } from './configuration.ts'
import type { Terminal } from './terminal.ts'

/** Prints the key alone on standard output, so that it can be kept in a variable. */
export async function createKey(
  server: Server,
  { name, scopes }: { name: string; scopes: readonly string[] },
  terminal: Terminal,
): Promise<number> {
  const headers = { ...(await logIn(server)), 'content-type': 'application/json' }
  const body = JSON.stringify({ name, scopes })
  const response = await send(`${server.url}/api/v1/keys`, { method: 'POST', headers, body })
  const { key, warning } = (await response.json()) as components['schemas']['KeyCreated'] // guaranteed by the contract
  terminal.out(key)
  if (warning !== undefined) terminal.err(warning)
  return 0
}
