/** The tools of an import's agents. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { checkConditions } from '../../../http/sending/given-approvals.ts'
import { givenTools, withKnownTools } from '../../../http/sending/tool-choice.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import { changeAgentTools } from '../../../persistence/records/tools/agent-tools.ts'
import type { ToolChoice } from '../../../persistence/records/tools/tool-kinds.ts'
import { approvalByName } from './approvals.ts'
import type { Named } from './by-name.ts'
import { inSteps, type Taking, take } from './taking.ts'

type Import = components['schemas']['Import']
type Choice = NonNullable<Import['agentTools']>[number]

/**
 * Returns the parts of a choice that are here. The others are reported as skipped: one that is missing does not keep
 * the rest out.
 */
async function partsHere(
  { deps, stored, result }: Taking,
  { agent: name, ...choice }: Choice,
): Promise<Omit<Choice, 'agent'>> {
  const isHere = (find: () => unknown): boolean => {
    try {
      find()
      return true
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      result.skipped.push({ kind: 'agentTools', name, reason: `left out: ${error.message}` })
      return false
    }
  }
  const here = async <Part>(parts: readonly Part[], find: (part: Part) => unknown): Promise<Part[]> => {
    const found: Part[] = []
    for await (const part of inSteps(parts)) if (isHere(() => find(part))) found.push(part)
    return found
  }
  const { httpTools, mcpServers, builtInTools, agentTools, approvals, approvalsExpireAfterS, ...others } = choice
  others satisfies Record<string, never> // a kind that is not taken in does not compile
  const findBuiltIn = (id: string) =>
    deps.builtInTools.some((tool) => tool.id === id) || badRequest(`there is no built-in tool called "${id}"`)
  return {
    ...(httpTools && { httpTools: await here(httpTools, stored.httpTools.existing) }),
    ...(mcpServers && {
      mcpServers: await here(mcpServers, ({ server }) => stored.mcpServers.existing(server)),
    }),
    ...(builtInTools && { builtInTools: await here(builtInTools, findBuiltIn) }),
    ...(agentTools && { agentTools: await here(agentTools, ({ agent }) => stored.agents.existing(agent)) }),
    ...(approvals && {
      approvals: approvals === '*' ? approvals : await here(approvals, (given) => approvalByName(given, stored)),
    }),
    ...(approvalsExpireAfterS !== undefined && { approvalsExpireAfterS }),
  }
}

export async function takeAgentTools(taking: Taking, given: readonly Choice[]): Promise<void> {
  const { tx, builtInTools, workOutNames: workOut } = taking.deps
  const { agents, httpTools, mcpServers } = taking.stored
  const none: Required<Omit<Choice, 'agent' | 'approvalsExpireAfterS'>> = {
    httpTools: [],
    mcpServers: [],
    builtInTools: [],
    agentTools: [],
    approvals: [],
  }
  const chosen = ({ id, name }: Named) => ({ ...none, ...taking.choices.get(id), id, name })
  const named: (Omit<Choice, 'agent'> & { name: string })[] = []
  for await (const { agent: name, ...tools } of inSteps(given))
    named.push({ name, ...(agents.has(name) ? await partsHere(taking, { agent: name, ...tools }) : tools) })
  await take(taking, {
    kind: 'agentTools',
    given: named,
    // A choice belongs to its agent: that of an agent which was made above is a change of nothing.
    stored: {
      ...agents,
      find(name) {
        const agent = agents.find(name)
        return agent && chosen(agent)
      },
    },
    create: async ({ name }) => agents.existing(name),
    update: async (agentId, choice) => {
      const given = {
        httpToolIds: choice.httpTools?.map((name) => httpTools.existing(name).id),
        mcpServers: choice.mcpServers?.map(({ server, toolNames }) => ({
          mcpServerId: mcpServers.existing(server).id,
          toolNames,
        })),
        builtInToolIds: choice.builtInTools,
        agentTools: choice.agentTools?.map(({ agent, ...texts }) => ({ agentId: agents.existing(agent).id, ...texts })),
        approvals:
          choice.approvals === '*'
            ? choice.approvals
            : choice.approvals?.map((one) => approvalByName(one, taking.stored)),
        approvalsExpireAfterS: choice.approvalsExpireAfterS,
      } satisfies Record<keyof ToolChoice, unknown>
      const changes = givenTools(given, builtInTools)
      await checkConditions(changes.approvals, taking.deps.checkSchema)
      return await withKnownTools(() => changeAgentTools(tx, { agentId, changes, workOut }))
    },
  })
}
