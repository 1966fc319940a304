/** Two editors of one record (contract section 25): records answer with an `ETag`, and a PUT with `If-Match` is held to it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Operation, type Operations, successStatus } from '../../../../openapi/operation.ts'
import { holdImports } from '../../../features/transfer/index.ts'
import { type Sql, withoutIdling } from '../../../persistence/postgres/database.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { HttpError } from '../../server/http-error.ts'
import { changedSince, tagOf } from '../../server/tags/record-tags.ts'

interface Exchange {
  request: FastifyRequest
  reply: FastifyReply
}
type Handle = (input: Exchange & Readonly<Record<string, unknown>>) => unknown

/** Runs a PUT of the record that the path names. */
type InTurn = (path: string, edit: () => Promise<unknown>) => Promise<unknown>

/** Returns a function that gives the same handlers, for operations of which a GET and a PUT share a path. */
export function createEditing(
  sql: Sql,
): <Handlers extends object>(operations: Operations, handlers: Handlers) => Handlers {
  const inTurn = createTurns(sql)
  return (operations, handlers) => withTags(inTurn, operations, handlers)
}

function withTags<Handlers extends object>(inTurn: InTurn, operations: Operations, handlers: Handlers): Handlers {
  const byId = new Map<string, Handle>(Object.entries(handlers))
  const all = Object.entries(operations)
  const isEdited = ({ path }: Operation) => all.some(([, other]) => other.path === path && other.method === 'put')
  const reads = all.filter(([, operation]) => operation.method === 'get' && isEdited(operation))
  const tagged =
    (handle: Handle): Handle =>
    async (input) => {
      const record = await handle(input)
      if (isObject(record)) input.reply.header('etag', tagOf(record))
      return record
    }
  for (const [id, { path }] of reads) {
    const read = byId.get(id)
    const [putId] = all.find(([, other]) => other.path === path && other.method === 'put') ?? []
    const put = putId === undefined ? undefined : byId.get(putId)
    if (read === undefined || put === undefined || putId === undefined) continue
    byId.set(id, tagged(read))
    byId.set(putId, tagged(heldToTag(inTurn, read, put)))
  }
  for (const [id, operation] of all) {
    const create = byId.get(id)
    const isCreate = operation.method === 'post' && successStatus(operation) === 201
    if (create !== undefined && isCreate && reads.length > 0) byId.set(id, tagged(create))
  }
  // Each handler is replaced by one that takes and gives the same.
  return Object.fromEntries(byId) as unknown as Handlers
}

const heldToTag =
  (inTurn: InTurn, read: Handle, put: Handle): Handle =>
  (input) =>
    inTurn(input.request.url.split('?', 1)[0]?.toLowerCase() ?? '', async () => {
      const ifMatch = input.request.headers['if-match']
      if (ifMatch !== undefined) refuseChanged(ifMatch, await read(input))
      return await put(input)
    })

/**
 * PUTs of one record come one after the other, on every instance, so that none changes what another has just compared, and
 * none beside an import. In this process there is one at a time: each holds a connection while its handler takes another one.
 */
function createTurns(sql: Sql): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return async (path, edit) => {
    const turn = last.then(
      () =>
        new Promise((resolve, reject) => {
          const whole = sql.begin(async (tx) => {
            await holdImports(tx)
            await tx`select pg_advisory_xact_lock(hashtextextended(${`edit ${path}`}, 0))`
            await withoutIdling(tx, () => {
              const edited = edit()
              resolve(edited) // from here on it says what was stored, whatever becomes of this connection
              return edited
            })
          })
          whole.catch(reject)
        }),
    )
    last = turn.catch(() => {})
    return await turn
  }
}

function refuseChanged(ifMatch: string, record: unknown): void {
  const changed = isObject(record) ? changedSince(ifMatch, record) : null
  if (changed === null) return
  const what = changed.length === 0 ? 'in what is not shown, or long ago' : `in ${changed.join(', ')}`
  throw new HttpError(412, `The record was changed since you read it: ${what}. Read it again before you change it.`)
}
