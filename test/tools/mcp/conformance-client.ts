/**
 * The client that the MCP conformance suite drives: `node conformance-client.ts <server url>`, with the scenario's name
 * in MCP_CONFORMANCE_SCENARIO. Lists the server's tools as a reply would, calls each, and disconnects. Where the server
 * demands a sign-in, it signs in by the parts that the product uses; the browser's way is one request.
 */
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client'
import { beginSignIn, finishSignIn } from '../../../src/features/connections/oauth.ts'
import { type Challenge, createMcp } from '../../../src/tools/mcp/mcp.ts'
import { withGrant } from '../../../src/tools/mcp-servers/grants.ts'
import { guardedFetch } from '../../../src/tools/outbound/guarded-fetch.ts'
import { createOutbound } from '../../../src/tools/outbound/outbound.ts'

const args: Record<string, Record<string, unknown>> = { add_numbers: { a: 5, b: 3 } }
/** The most sign-ins in a row: a server may never be content. */
const MOST_SIGN_INS = 3

const [, , url = ''] = process.argv
const allowed = { kind: 'range', address: '127.0.0.1', prefix: 8, family: 'ipv4' } as const
const localhost = { kind: 'host', host: 'localhost', port: null } as const
await using outbound = createOutbound({ policy: 'standard', allow: [allowed, localhost] })
const log = { warn: (details: object, message: string) => console.error(message, details) }
await using mcp = createMcp({ outbound, log })
const server = { id: 's', name: 's', transport: 'streamable_http', url, headers: {}, version: '1' } as const
const { signal } = new AbortController()
const redirectUri = 'http://localhost:3000/api/oauth/callback'
const given: { client_id?: string; client_secret?: string } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')
const registered: { client: OAuthClientInformationMixed | null } = { client: null }

async function signIn({ scope, metadata }: Challenge, granted: string | null) {
  const scopes = [...new Set(`${granted ?? ''} ${scope ?? ''}`.split(' '))].join(' ').trim()
  const { client_id: id, client_secret: secret } = given
  const source = {
    configured: id === undefined ? null : { client_id: id, ...(secret !== undefined && { client_secret: secret }) },
    document: 'https://conformance-test.local/client-metadata.json',
    registered: async (_: string, register: () => Promise<OAuthClientInformationMixed>) => {
      registered.client ??= await register()
      return registered.client
    },
  }
  const fetchFn = guardedFetch(outbound)(url)
  const wishes = { url, scope: scopes === '' ? undefined : scopes, metadata, redirectUri }
  const { location, begun } = await beginSignIn(wishes, source, 'state', fetchFn)
  const back = new URL((await fetch(location, { redirect: 'manual' })).headers.get('location') ?? '')
  const [code = '', iss] = [back.searchParams.get('code') ?? '', back.searchParams.get('iss') ?? undefined]
  const { token, scope: has } = await finishSignIn(begun, { code, iss, redirectUri }, fetchFn)
  return { id: 'g', token, scope: has }
}

let grant: Awaited<ReturnType<typeof signIn>> | null = null
let signIns = 0

/** Runs the work again after each sign-in that it demands. */
async function signedIn<T>(
  work: () => Promise<T>,
  demandOf: (outcome: T | unknown) => Challenge | undefined,
): Promise<T> {
  for (;;) {
    const outcome = await work().then(
      (value) => ({ value, error: undefined }),
      (error: unknown) => ({ value: undefined, error }),
    )
    const demand = demandOf(outcome.error ?? outcome.value)
    const isDemand = demand?.status === 401 || demand?.error === 'insufficient_scope'
    if (demand !== undefined && isDemand && signIns < MOST_SIGN_INS) {
      signIns += 1
      grant = await signIn(demand, demand.status === 403 ? (grant?.scope ?? null) : null)
    } else if (outcome.error !== undefined) throw outcome.error
    else return outcome.value as T
  }
}

const demandIn = (outcome: unknown): Challenge | undefined => Object(outcome).challenge
for (const { name } of await signedIn(() => mcp.tools(withGrant(server, grant), signal), demandIn)) {
  const result = await signedIn(() => mcp.call(withGrant(server, grant), name, args[name] ?? {}, signal), demandIn)
  console.log(result.content)
  if (!result.ok) process.exitCode = 1
}
