/** A portable copy of the configuration, out and in (contract section 8). */
import type { FastifyInstance } from 'fastify'
import type { Handlers } from '../../../http/server/mount.ts'
import { sendInPieces } from '../../../http/streaming/written-lists.ts'
import { type Sql, withoutIdling } from '../../../persistence/postgres/database.ts'
import { commitChange, originOf, tellActor, writeEntries } from '../../audit/index.ts'
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

export const transferHandlers = (deps: TransferDependencies) => {
  const { sql, onMcpServerChange } = deps
  return {
    exportConfiguration: async ({ request, reply }) => {
      const stored = await readConfiguration(sql)
      await writeEntries(sql, originOf(request), [ofAll('export')])
      const configuration = {
        version: 1 as const,
        ...exported(stored),
        agentTools: stored.agentTools.map(({ name, approval }) => ({
          agent: name,
          ...toolsOf(approval, stored, deps.workOutNames),
        })),
      }
      const isLong = stored.prompts.reduce((sum, { content }) => sum + content.length, 0) > LONG_CHARACTERS
      return isLong ? sendInPieces(reply, configuration) : configuration
    },
    importConfiguration: async ({ body, request }) => {
      const { result, changedServers } = await commitChange(sql, async (tx) => {
        await lockConfiguration(tx)
        await tellActor(tx, originOf(request))
        const stored = await readConfiguration(tx)
        const imported = await withoutIdling(tx, () => takeIn({ ...deps, tx }, body, stored)) // schemas are applied
        await writeEntries(tx, originOf(request), [ofAll('import'), ...imported.changes])
        return imported
      })
      for (const id of changedServers) onMcpServerChange(id)
      return result
    },
  } satisfies Handlers<'transfer'>
}
