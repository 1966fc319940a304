/** Which tools an agent may call (contract section 2, specification 2.7 and 4.10). */

import type { Sql } from '../../../persistence/postgres/database.ts'
import * as agentTools from '../../../persistence/records/tools/agent-tools.ts'
import { givenTools, withKnownTools } from '../../sending/tool-choice.ts'
import { missing } from '../../server/http-error.ts'
import type { Handlers } from '../../server/mount.ts'

interface Dependencies {
  sql: Sql
  builtInTools: readonly { id: string }[]
}

export const agentToolHandlers = ({ sql, builtInTools }: Dependencies) =>
  ({
    getAgentTools: async ({ params }) => (await agentTools.findAgentTools(sql, params.agent_id)) ?? missing('agent'),
    updateAgentTools: async ({ params, body }) => {
      // An unknown agent comes before unknown tools, as the specification lists it.
      if ((await agentTools.findAgentTools(sql, params.agent_id)) === null) missing('agent')
      const changes = givenTools(body, builtInTools)
      return (
        (await withKnownTools(() => agentTools.updateAgentTools(sql, params.agent_id, changes))) ?? missing('agent')
      )
    },
  }) satisfies Handlers<'agentTools'>
