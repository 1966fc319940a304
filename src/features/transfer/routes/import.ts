/** Takes a copy of the configuration in: record by record, matched by name, inside one transaction. */
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { components } from '../../../../openapi/generated/schema.ts'
import type { WorkOutNames } from '../../../actors/ports/index.ts'
import type { FieldRefusal } from '../../../http/sending/agent-for-reply.ts'
import { checkAnswerFields } from '../../../http/sending/given-answer-fields.ts'
import { checkConditions } from '../../../http/sending/given-approvals.ts'
import { givenTools } from '../../../http/sending/tool-choice.ts'
import { type HttpToolWriting, httpToolChanges, newHttpTool } from '../../../http/server/fields/http-tool-input.ts'
import { mcpServerChanges, newMcpServer } from '../../../http/server/fields/mcp-server-input.ts'
import { checkContent } from '../../../http/server/fields/prompt-content.ts'
import { newProvider, type ProviderWriting, providerChanges } from '../../../http/server/fields/provider-input.ts'
import { badRequest, HttpError } from '../../../http/server/http-error.ts'
import type { Tx } from '../../../persistence/postgres/database.ts'
import { createAgent, findAgent, updateAgent } from '../../../persistence/records/agents.ts'
import { createPrompt, updatePrompt } from '../../../persistence/records/prompts.ts'
import { changeProvider, createProvider } from '../../../persistence/records/providers.ts'
import { changeAgentTools } from '../../../persistence/records/tools/agent-tools.ts'
import { changeHttpTool, createHttpTool } from '../../../persistence/records/tools/http-tools.ts'
import { changeMcpServer, createMcpServer } from '../../../persistence/records/tools/mcp-servers.ts'
import type { ToolChoice } from '../../../persistence/records/tools/tool-kinds.ts'
import { promptWarning } from '../../../templates/prompt-template.ts'
import type { AuditedChange } from '../../audit/index.ts'
import { type Configuration, HIDDEN } from '../store/transfer.ts'
import { approvalByName, toolsOf } from './approvals.ts'
import { type ByName, indexed, type Named } from './by-name.ts'
import { importedAgent } from './imported-agent.ts'
import { importedChange } from './imported-change.ts'

type Import = components['schemas']['Import']
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

interface Taking {
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

/**
 * Takes records in. `stored` is the present state; no one else changes it meanwhile. Rejects only by a fault: then
 * nothing is written.
 */
export async function takeIn(deps: ImportDependencies, given: Import, stored: Configuration) {
  const taking: Taking = {
    deps,
    stored: indexed(stored),
    choices: new Map(stored.agentTools.map(({ id, approval }) => [id, toolsOf(approval, stored, deps.workOutNames)])),
    result: { created: 0, updated: 0, skipped: [] },
    changedServers: [],
    changes: [],
  }
  await takeProviders(taking, given.providers ?? [])
  await takePrompts(taking, given.prompts ?? [])
  addWarnings(taking, given.prompts ?? [])
  await takeHttpTools(taking, given.httpTools ?? [])
  await takeMcpServers(taking, given.mcpServers ?? [])
  await takeAgents(taking, given.agents ?? [])
  await takeAgentTools(taking, given.agentTools ?? [])
  return taking
}

/** Returns whether what is given says anything new beside what is stored. Absent fields keep what is stored. */
const isNew = (stored: object, given: object): boolean => !isDeepStrictEqual({ ...stored, ...given }, { ...stored })

async function take<Given extends { name: string }>(
  { result, changes }: Taking,
  { kind, given, stored, create, update }: Records<Given>,
): Promise<void> {
  const seen = new Set<string>()
  let begin = performance.now()
  for (const record of given) {
    const { name } = record
    if (performance.now() - begin > LONGEST_TURN_MS) {
      await setImmediate()
      begin = performance.now()
    }
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

/** Takes providers in. One without a type must be there. Keys that are given are stored; `***` keeps the one that is there. */
const takeProviders = (taking: Taking, given: NonNullable<Import['providers']>) =>
  take(taking, {
    kind: 'provider',
    given: given.map((one) => withoutHiddenKey(one)),
    stored: taking.stored.providers,
    async create({ name, providerType, ...fields }) {
      const hidden = given.some((one) => one.name === name && one.apiKey === HIDDEN)
      if (providerType === undefined) return taking.stored.providers.existing(name)
      if (hidden) badRequest('apiKey: there is no stored value to keep')
      const made = newProvider(taking.deps, { ...fields, name, providerType })
      return await createProvider(taking.deps.tx, made)
    },
    update: (id, provider) =>
      changeProvider(taking.deps.tx, id, (known) => {
        if (provider.wireApi && known.wireApi === null) badRequest('wireApi: its type has one API only')
        return providerChanges(taking.deps, known, provider)
      }),
  })

function withoutHiddenKey(provider: NonNullable<Import['providers']>[number]) {
  const { apiKey, ...named } = provider
  return apiKey === HIDDEN ? named : provider
}

const takePrompts = (taking: Taking, given: NonNullable<Import['prompts']>) =>
  take(taking, {
    kind: 'prompt',
    given,
    stored: taking.stored.prompts,
    create(prompt) {
      checkContent(prompt.content)
      return createPrompt(taking.deps.tx, prompt)
    },
    update(id, prompt) {
      checkContent(prompt.content)
      return updatePrompt(taking.deps.tx, id, prompt)
    },
  })

/** Adds what saving these prompts would warn of. */
function addWarnings({ result }: Taking, given: NonNullable<Import['prompts']>): void {
  const warnings = given.flatMap(({ name, content }) => {
    const message = promptWarning(content)
    const isSkipped = result.skipped.some((one) => one.kind === 'prompt' && one.name === name)
    return message === null || isSkipped ? [] : [{ kind: 'prompt' as const, name, message }]
  })
  if (warnings.length > 0) result.warnings = warnings
}

const takeHttpTools = (taking: Taking, given: NonNullable<Import['httpTools']>) =>
  take(taking, {
    kind: 'httpTool',
    given,
    stored: taking.stored.httpTools,
    create: async (tool) => createHttpTool(taking.deps.tx, await newHttpTool(taking.deps, tool)),
    update: async (id, tool) => changeHttpTool(taking.deps.tx, id, await httpToolChanges(taking.deps, tool)),
  })

const takeMcpServers = (taking: Taking, given: NonNullable<Import['mcpServers']>) =>
  take(taking, {
    kind: 'mcpServer',
    given,
    stored: taking.stored.mcpServers,
    create: (server) => createMcpServer(taking.deps.tx, newMcpServer(taking.deps, server)),
    async update(id, server) {
      await changeMcpServer(taking.deps.tx, id, mcpServerChanges(taking.deps, server))
      taking.changedServers.push(id)
    },
  })

async function takeAgents(taking: Taking, given: NonNullable<Import['agents']>): Promise<void> {
  const { tx, fieldRefusal } = taking.deps
  const fields = (agent: (typeof given)[number]) => importedAgent(agent, taking.stored)
  await take(taking, {
    kind: 'agent',
    given,
    stored: taking.stored.agents,
    async create(agent) {
      const { promptId = null, generationConfig = {}, responseFormat = null, ...rest } = fields(agent)
      const { fallbacks = [], allowedOrigins = [], historyMaxTokens = null, ...plain } = rest
      await checkAnswerFields(tx, fieldRefusal, { ...plain, responseFormat, generationConfig })
      const settings = { generationConfig, responseFormat, fallbacks, allowedOrigins, historyMaxTokens }
      return createAgent(tx, { ...plain, promptId, ...settings })
    },
    async update(id, agent) {
      const changes = fields(agent)
      const kept = await findAgent(tx, id)
      const { responseFormat = kept?.responseFormat ?? null, generationConfig = kept?.generationConfig ?? {} } = changes
      await checkAnswerFields(tx, fieldRefusal, { ...changes, responseFormat, generationConfig })
      return updateAgent(tx, id, changes)
    },
  })
}

type Choice = NonNullable<Import['agentTools']>[number]

/**
 * Returns the parts of a choice that are here. The others are reported as skipped: one that is missing does not keep
 * the rest out.
 */
function partsHere({ deps, stored, result }: Taking, { agent: name, ...choice }: Choice): Omit<Choice, 'agent'> {
  const here = <Part>(parts: readonly Part[], find: (part: Part) => unknown): Part[] =>
    parts.filter((part) => {
      try {
        find(part)
        return true
      } catch (error) {
        if (!(error instanceof HttpError)) throw error
        result.skipped.push({ kind: 'agentTools', name, reason: `left out: ${error.message}` })
        return false
      }
    })
  const { httpTools, mcpServers, builtInTools, agentTools, approvals, approvalsExpireAfterS, ...others } = choice
  others satisfies Record<string, never> // a kind that is not taken in does not compile
  const findBuiltIn = (id: string) =>
    deps.builtInTools.some((tool) => tool.id === id) || badRequest(`there is no built-in tool called "${id}"`)
  return {
    ...(httpTools && { httpTools: here(httpTools, stored.httpTools.existing) }),
    ...(mcpServers && {
      mcpServers: here(mcpServers, ({ server }) => stored.mcpServers.existing(server)),
    }),
    ...(builtInTools && { builtInTools: here(builtInTools, findBuiltIn) }),
    ...(agentTools && { agentTools: here(agentTools, ({ agent }) => stored.agents.existing(agent)) }),
    ...(approvals && {
      approvals: approvals === '*' ? approvals : here(approvals, (given) => approvalByName(given, stored)),
    }),
    ...(approvalsExpireAfterS !== undefined && { approvalsExpireAfterS }),
  }
}

async function takeAgentTools(taking: Taking, given: readonly Choice[]): Promise<void> {
  const { tx, builtInTools, workOutNames: workOut } = taking.deps
  const { agents, httpTools, mcpServers } = taking.stored
  const none: Required<Omit<Choice, 'agent' | 'approvalsExpireAfterS'>> = {
    httpTools: [],
    mcpServers: [],
    builtInTools: [],
    agentTools: [],
    approvals: [],
  }
  const chosen = ({ id, name }: Named) => ({ ...(taking.choices.get(id) ?? none), id, name })
  await take(taking, {
    kind: 'agentTools',
    given: given.map(({ agent: name, ...tools }) => ({
      name,
      ...(agents.has(name) ? partsHere(taking, { agent: name, ...tools }) : tools),
    })),
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
      return await changeAgentTools(tx, { agentId, changes, workOut })
    },
  })
}
