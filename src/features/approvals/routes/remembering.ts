/** Wishes that a decision is remembered: what of a call they cover, and who may have them (contract section 29). */
import { createHash, randomUUID } from 'node:crypto'
import type { RememberedCall } from '../../../actors/ports/index.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import { parseExact, writeExact } from '../../../untrusted/exact-json.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { canonical, membersOf } from '../../../untrusted/json/equal-json.ts'
import { mayRemember } from '../remembered.ts'
import type { GivenDecisions } from './decisions.ts'
import type { AskingSession, Decision } from './fitting-decisions.ts'

/** The most bytes of the values that narrow a decision, as JSON. */
const MOST_BYTES = 16_384

/** Returns what is remembered of a decision. Undefined: nothing. Throws 400 and 403. */
export async function rememberedOf(
  { call, decided, bySecret }: Decision,
  { wait, openToolbox }: AskingSession,
  { isBound = false, remembersFor }: GivenDecisions,
): Promise<RememberedCall | undefined> {
  const { wish } = decided
  if (wish === undefined) return undefined
  const { scope, names, at } = wish
  if (scope === undefined) return badRequest(`${at}_arguments: is only taken with remember`)
  if (call.kind !== 'approval') return badRequest(`${at}: the call is the caller's own`)
  if (decided.decision === 'respond') return badRequest(`${at}: is not taken with respond`)
  if (decided.arguments !== undefined) return badRequest(`${at}: is not taken beside changed arguments`)
  if (scope === 'user' && wait.user === null) return badRequest(`${at}: the session has no user`)
  const tool = wait.carried.chain.turn.waiting.find((waiting) => waiting?.id === decided.id)?.tool
  if (tool === undefined) return badRequest(`${at}: the tool of the call is not known any more`)
  const asks = call.path?.at(-1)
  if (asks && (bySecret || remembersFor?.(asks.agent_id) === false))
    throw new HttpError(403, 'This decision can be remembered at the session that asks alone.')
  if (bySecret) {
    const asking = (await (await openToolbox()).asking?.({ name: call.name, arguments: call.arguments, tool })) ?? []
    if ((isBound && scope === 'user') || !mayRemember(asking, scope)) {
      throw new HttpError(403, 'A client secret may not have this decision remembered.')
    }
  }
  const values = names === undefined ? null : valuesOf(call.arguments, names, `${at}_arguments`)
  const members = values === null ? null : membersOf(values)
  const reach = createHash('sha256').update(`${tool}\n${members === null ? '' : canonical(members)}`)
  return {
    id: randomUUID(),
    scope,
    tool,
    record_id: /^(?:http|mcp):([^:]+)/.exec(tool)?.[1] ?? null,
    name: call.name,
    arguments: values,
    reach: reach.digest('hex'),
    by_secret: bySecret,
  }
}

/** Returns the named arguments as a JSON object, with the digits that they have. Throws 400. */
function valuesOf(text: string, names: readonly string[], where: string): string {
  if (membersOf(text) === null)
    return badRequest(`${where}: the arguments of the call are no JSON object, or name one twice`)
  const given: unknown = text.trim() === '' ? {} : parseExact(text)
  const found = names.map((name): [string, unknown] => {
    if (!isObject(given) || !Object.hasOwn(given, name)) {
      return badRequest(`${where}: the call has no argument ${JSON.stringify(name)}`)
    }
    return [name, given[name]]
  })
  const values = writeExact(Object.fromEntries(found)) ?? '{}'
  if (Buffer.byteLength(values) > MOST_BYTES) return badRequest(`${where}: the values hold more than 16 KiB`)
  return values
}
