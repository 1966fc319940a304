/** A portable copy of the configuration, out and in (contract section 8). */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { components } from '../../../../openapi/generated/schema.ts'
import { badRequest } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import { sendInPieces } from '../../../http/streaming/written-lists.ts'
import { type Sql, type Tx, withoutIdling } from '../../../persistence/postgres/database.ts'
import { type AuditedChange, commitChange, originOf, tellActor, writeEntries } from '../../audit/index.ts'
import { exported, lockConfiguration, readConfiguration } from '../store/transfer.ts'
import { toolsOf } from './approvals.ts'
import { takeIn } from './import.ts'
import type { ImportDependencies } from './taking.ts'
import { registerYaml } from './yaml-body.ts'

export interface TransferDependencies extends Omit<ImportDependencies, 'tx'> {
  sql: Sql
  /** Tells that an import has changed the server: connections to the former one are of no use any more. */
  onMcpServerChange(id: string): void
  /** Undoes the work, and makes what it changed of these agents their drafts. */
  asDrafts<Result>(
    tx: Tx,
    agentIds: readonly string[],
    work: (tx: Tx) => Promise<Result>,
  ): Promise<{ result: Result; changed: string[] }>
}

/** Makes a scope that takes YAML too: `scope.register(transferScope(() => mount(…)))`. */
export const transferScope = (routes: (scope: FastifyInstance) => void) => async (scope: FastifyInstance) => {
  registerYaml(scope)
  routes(scope)
}

/** Prompts are all that may be long in a configuration: so many characters of them at most. */
const LONG_CHARACTERS = 256 * 1024

const ofAll = (action: 'export' | 'import') => ({
  action,
  kind: 'configuration',
  recordId: null,
  recordName: null,
  changes: {},
})

/** Carries an import out and takes it back: only what would change is left of it. */
async function tried(sql: Sql, take: (tx: Tx) => ReturnType<typeof takeIn>) {
  const done: Awaited<ReturnType<typeof takeIn>>[] = []
  const takenBack = new Error('A dry run is taken back.')
  await sql
    .begin(async (tx) => {
      done.push(await take(tx))
      throw takenBack
    })
    .catch((error: unknown) => {
      if (error !== takenBack) throw error
    })
  const [imported] = done
  if (imported === undefined) throw new Error('A dry run had no result.')
  return { ...imported.result, changes: imported.changes.map(shownChange) }
}

const shownChange = ({ action, kind, recordName, changes }: AuditedChange) => ({
  action: action === 'create' ? ('create' as const) : ('update' as const),
  kind,
  name: recordName,
  changes,
})

/** Takes what an import says of agents that are here as their drafts; nothing else is changed. */
async function proposed(
  deps: TransferDependencies,
  body: components['schemas']['Import'],
  request: FastifyRequest,
): Promise<components['schemas']['ImportResult']> {
  return await commitChange(deps.sql, async (tx) => {
    await lockConfiguration(tx)
    const stored = await readConfiguration(tx)
    const ids = stored.agents.map(({ id }) => id)
    const work = (tried: Tx) => withoutIdling(tried, () => takeIn({ ...deps, tx: tried }, body, stored))
    const { result: imported, changed } = await deps.asDrafts(tx, ids, work)
    const names = new Map(stored.agents.map(({ id, name }) => [id, name]))
    const changes = changed.map((id) => ({
      ...{ action: 'update' as const, kind: 'agentDraft', recordId: id, recordName: names.get(id) ?? null },
      changes: {},
    }))
    await writeEntries(tx, originOf(request), [ofAll('import'), ...changes])
    return { created: 0, updated: changed.length, skipped: imported.result.skipped }
  })
}

export const transferHandlers = (deps: TransferDependencies) => {
  const { sql, onMcpServerChange } = deps
  return {
    exportConfiguration: async ({ query, request, reply }) => {
      const stored = await readConfiguration(sql)
      await writeEntries(sql, originOf(request), [ofAll('export')])
      const configuration = {
        version: 1 as const,
        ...exported(stored, query.providers === 'whole'),
        agentTools: stored.agentTools.map(({ name, approval }) => ({
          agent: name,
          ...toolsOf(approval, stored, deps.workOutNames),
        })),
      }
      const isLong = stored.prompts.reduce((sum, { content }) => sum + content.length, 0) > LONG_CHARACTERS
      return isLong ? sendInPieces(reply, configuration) : configuration
    },
    importConfiguration: async ({ body, query, request }) => {
      if (query.draft === 'true' && query.dryRun === 'true') badRequest('dryRun: not together with draft')
      if (query.draft === 'true') return await proposed(deps, body, request)
      const take = async (tx: Tx) => {
        await lockConfiguration(tx)
        await tellActor(tx, originOf(request))
        const stored = await readConfiguration(tx)
        const imported = await withoutIdling(tx, () => takeIn({ ...deps, tx }, body, stored)) // schemas are applied
        await writeEntries(tx, originOf(request), [ofAll('import'), ...imported.changes])
        return imported
      }
      if (query.dryRun === 'true') return await tried(sql, take)
      const { result, changedServers } = await commitChange(sql, take)
      for (const id of changedServers) onMcpServerChange(id)
      return result
    },
  } satisfies Handlers<'transfer'>
}
