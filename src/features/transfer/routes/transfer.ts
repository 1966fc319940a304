/** A portable copy of the configuration, out and in (contract section 8). */
import type { FastifyInstance } from 'fastify'
import type { Handlers } from '../../../http/server/mount.ts'
import { sendInPieces } from '../../../http/streaming/written-lists.ts'
import { type Sql, type Tx, withoutIdling } from '../../../persistence/postgres/database.ts'
import { type AuditedChange, commitChange, originOf, tellActor, writeEntries } from '../../audit/index.ts'
import { exported, lockConfiguration, readConfiguration } from '../store/transfer.ts'
import { toolsOf } from './approvals.ts'
import { type ImportDependencies, takeIn } from './import.ts'
import { registerYaml } from './yaml-body.ts'

export interface TransferDependencies extends Omit<ImportDependencies, 'tx'> {
  sql: Sql
  /** Tells that an import has changed the server: connections to the former one are of no use any more. */
  onMcpServerChange(id: string): void
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
