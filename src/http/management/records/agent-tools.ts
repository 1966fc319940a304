/** Which tools an agent may call (contract section 2, specification 2.7 and 4.10). */

import type { WorkOutNames } from '../../../actors/ports/index.ts'
import type { Sql } from '../../../persistence/postgres/database.ts'
import * as agentTools from '../../../persistence/records/tools/agent-tools.ts'
import { givenTools, withKnownTools } from '../../sending/tool-choice.ts'
import { missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'

interface Dependencies {
  sql: Sql
  builtInTools: readonly { id: string }[]
  /** What names in `approvals` mean. */
  workOutNames: WorkOutNames
}

export const agentToolHandlers = ({ sql, builtInTools, workOutNames: workOut }: Dependencies) =>
  ({
    getAgentTools: async ({ params }) => (await agentTools.findAgentTools(sql, params.agent_id)) ?? missing('agent'),
    updateAgentTools: async ({ params, body }) => {
      // An unknown agent comes before unknown tools, as the specification lists it.
      if ((await agentTools.findAgentTools(sql, params.agent_id)) === null) missing('agent')
      const changes = givenTools(body, builtInTools)
      const change = { agentId: params.agent_id, changes, workOut }
      return (await withKnownTools(() => agentTools.updateAgentTools(sql, change))) ?? missing('agent')
    },
  }) satisfies Handlers<'agentTools'>
