/** The words for a management request that names an agent in place of its id: paths take ids alone. */
import type { FastifyRequest } from 'fastify'
import { isUuid } from '../../persistence/postgres/uuid.ts'
import { HttpError } from '../server/http-error.ts'
import { brokenText } from '../server/request-body/text.ts'

/** Throws 404 that names the agent's id. Call it for callers who may read agents: the id is told to nobody else. */
export async function refuseNameOfAgent(
  { routeOptions: { url = '' }, params }: FastifyRequest,
  idsOf: (name: string) => Promise<readonly string[]>,
): Promise<void> {
  const [, param] = /^\/api\/v1\/agents\/:([^/]+)/.exec(url) ?? []
  if (param === undefined) return
  const given: unknown = Object(params)[param]
  if (typeof given !== 'string' || isUuid(given)) return
  const [id, another] = brokenText(given) === null ? await idsOf(given) : []
  const meant =
    another !== undefined ? ' Several agents have this name.' : id ? ` The agent of this name is ${id}.` : ''
  throw new HttpError(404, `There is no such agent: the path takes its id.${meant}`)
}
