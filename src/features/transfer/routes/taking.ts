/** The records of an import, taken in one after another. */
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { components } from '../../../../openapi/generated/schema.ts'
import type { FieldRefusal } from '../../../http/sending/agent-for-reply.ts'
import type { HttpToolWriting } from '../../../http/server/fields/http-tool-input.ts'
import type { ProviderWriting } from '../../../http/server/fields/provider-input.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import type { Tx } from '../../../persistence/postgres/database.ts'
import type { WorkOutNames } from '../../../persistence/records/tools/configured-tools.ts'
import type { AuditedChange } from '../../audit/index.ts'
import type { ByName, indexed, Named } from './by-name.ts'
import { importedChange } from './imported-change.ts'

type Result = components['schemas']['ImportResult']
type Kind = Result['skipped'][number]['kind']

/** Then others have their turn: 24,000 records that are refused took 0.5 s without a statement between them. */
const LONGEST_TURN_MS = 20

export interface ImportDependencies extends HttpToolWriting, ProviderWriting {
  tx: Tx
  fieldRefusal: FieldRefusal
  builtInTools: readonly { id: string }[]
  /** The search for the tools that names in `approvals` mean. */
  workOutNames: WorkOutNames
  /** Returns the address under which browsers reach the server. Null where that is not known. */
  publicUrl(): string | null
}

export interface Taking {
  deps: ImportDependencies
  stored: ReturnType<typeof indexed>
  /** The choices of agents, by the agent's id. */
  choices: ReadonlyMap<string, object>
  result: Result
  changedServers: string[]
  changes: AuditedChange[]
}

/** A kind of record. `create` and `update` throw 400 for what cannot be taken in, before they write anything. */
interface Records<Given extends { name: string }> {
  kind: Kind
  given: readonly Given[]
  /** The stored records; created ones are added. */
  stored: ByName<Named>
  create(given: Given): Promise<Named>
  update(id: string, given: Given): Promise<unknown>
}

/** Returns whether what is given says anything new beside what is stored. Absent fields keep what is stored. */
const isNew = (stored: object, given: object): boolean => !isDeepStrictEqual({ ...stored, ...given }, { ...stored })

/** Yields what is given one by one; others have their turn meanwhile. */
export async function* inSteps<Given>(given: readonly Given[]): AsyncGenerator<Given, void> {
  let begin = performance.now()
  for (const one of given) {
    yield one
    if (performance.now() - begin <= LONGEST_TURN_MS) continue
    await setImmediate()
    begin = performance.now()
  }
}

export async function take<Given extends { name: string }>(
  { result, changes }: Taking,
  { kind, given, stored, create, update }: Records<Given>,
): Promise<void> {
  const seen = new Set<string>()
  for await (const record of inSteps(given)) {
    const { name } = record
    try {
      if (seen.has(name)) badRequest('the name is there twice in what is imported')
      seen.add(name)
      const known = stored.find(name)
      if (known === null) {
        const { id } = await create(record)
        changes.push(importedChange(kind, id, null, record))
        stored.add({ ...record, id })
        result.created += 1
      } else if (isNew(known, record)) {
        await update(known.id, record)
        changes.push(importedChange(kind, known.id, known, record))
        result.updated += 1
      }
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      result.skipped.push({ kind, name, reason: error.message })
    }
  }
}
