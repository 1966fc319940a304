/** The tools that an agent may call (contract section 2, specification 2.7 and 4.10). */

import { recordChange } from '../../../features/audit/index.ts'
import { changeDraftedTools, changeDraftTools, draftedTools } from '../../../features/versions/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import { findAgent } from '../../../persistence/records/agents.ts'
import * as agentTools from '../../../persistence/records/tools/agent-tools.ts'
import type { WorkOutNames } from '../../../persistence/records/tools/configured-tools.ts'
import { checkConditions } from '../../sending/given-approvals.ts'
import { givenTools, withKnownTools } from '../../sending/tool-choice.ts'
import { missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'

interface Dependencies {
  sql: Sql
  builtInTools: readonly { id: string }[]
  /** The meaning of names in `approvals` mean. */
  workOutNames: WorkOutNames
  /** Resolves to the reason why this is no JSON Schema of an object. Null when it is one. */
  checkSchema(schema: Record<string, unknown>): Promise<string | null>
}

export const agentToolHandlers = ({ sql, builtInTools, workOutNames: workOut, checkSchema }: Dependencies) =>
  ({
    getAgentTools: async ({ params: { agent_id: id }, query }) =>
      query.draft === 'true'
        ? await draftedTools(sql, id)
        : ((await agentTools.findAgentTools(sql, id)) ?? missing('agent')),
    updateAgentTools: async ({ params: { agent_id: id }, query, body, request }) => {
      // An unknown agent comes before unknown tools, as the specification lists it.
      const agent = (await findAgent(sql, id)) ?? missing('agent')
      const changes = givenTools(body, builtInTools)
      await checkConditions(changes.approvals, checkSchema)
      if (query.draft === 'true')
        return await withKnownTools(() =>
          changeDraftedTools({ sql, request }, agent, (tx, state) =>
            changeDraftTools(tx, agent.id, state, { choice: changes, workOut }),
          ),
        )
      return await withKnownTools(() =>
        recordChange(
          sql,
          request,
          'agentTools',
          async (tx) => {
            const before = await agentTools.findAgentTools(tx, id)
            const after = (await agentTools.changeAgentTools(tx, { agentId: id, changes, workOut })) ?? missing('agent')
            return { before, after, result: after }
          },
          agent,
        ),
      )
    },
  }) satisfies Handlers<'agentTools'>
