/** The deploy scope: bearer key, `{error}` errors (specification 5.1 and 7.1, contract section 3). */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type HostRule, refuseForeignHosts } from '../allowed-host.ts'
import { registerJson } from '../body.ts'
import { HttpError } from '../http-error.ts'
import { sendDeployError } from './errors.ts'

export interface DeployScope {
  /** Keys that are accepted, the current one first. Empty: open. */
  keys: readonly string[]
  hosts: Pick<HostRule, 'allowedHosts' | 'loopbackOnly'>
  routes(scope: FastifyInstance): void
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Throws 401. Constant time: hashes of equal length are compared, each of them. */
export function keyCheck(keys: readonly string[]): (request: FastifyRequest) => void {
  if (keys.length === 0) return () => {}
  const hashes = keys.map(hash)
  return (request) => {
    const given = /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim()
    if (given === undefined) throw new HttpError(401, 'No API key was given: send Authorization: Bearer <key>.')
    const asked = hash(given)
    const matches = hashes.map((known) => timingSafeEqual(known, asked)).filter(Boolean)
    if (matches.length === 0) throw new HttpError(401, 'The API key is not valid.')
  }
}

/** Register it without a prefix. It also answers every path below `…/deploy` that nobody else serves. */
export async function deployScope(app: FastifyInstance, { keys, hosts, routes }: DeployScope): Promise<void> {
  registerJson(app)
  app.setErrorHandler(sendDeployError)
  const refuseHost = refuseForeignHosts({ ...hosts, needsCredential: keys.length > 0 })
  const checkKey = keyCheck(keys)
  // Before anything else is looked at: 401 comes before 404 and 400.
  app.addHook('onRequest', async (request) => {
    refuseHost(request)
    checkKey(request)
  })
  routes(app)
  const unknown = async (request: FastifyRequest) => {
    throw new HttpError(404, `There is no ${request.method} ${request.url.split('?', 1)[0]?.slice(0, 200)}.`)
  }
  for (const url of ['/api/v1/agents/:agent_id/deploy', '/api/v1/agents/:agent_id/deploy/*']) {
    app.all(url, { onRequest: unknown }, unknown)
  }
}
