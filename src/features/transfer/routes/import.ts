/** Takes a copy of the configuration in: record by record, matched by name, inside one transaction. */
import type { components } from '../../../../openapi/generated/schema.ts'
import { checkAnswerFields } from '../../../http/sending/given-answer-fields.ts'
import { httpToolChanges, newHttpTool } from '../../../http/server/fields/http-tool-input.ts'
import { mcpServerChanges, newMcpServer } from '../../../http/server/fields/mcp-server-input.ts'
import { checkContent } from '../../../http/server/fields/prompt-content.ts'
import { newProvider, providerChanges } from '../../../http/server/fields/provider-input.ts'
import { badRequest } from '../../../http/server/http-error.ts'
import { createAgent, findAgent, updateAgent } from '../../../persistence/records/agents.ts'
import { createPrompt, updatePrompt } from '../../../persistence/records/prompts.ts'
import { changeProvider, createProvider } from '../../../persistence/records/providers.ts'
import { changeHttpTool, createHttpTool } from '../../../persistence/records/tools/http-tools.ts'
import { changeMcpServer, createMcpServer } from '../../../persistence/records/tools/mcp-servers.ts'
import { promptWarning } from '../../../templates/prompt-template.ts'
import { exactObject } from '../../../untrusted/exact-json.ts'
import { isObject } from '../../../untrusted/is-object.ts'
import { type Configuration, HIDDEN } from '../store/transfer.ts'
import { toolsOf } from './approvals.ts'
import { indexed } from './by-name.ts'
import { importedAgent } from './imported-agent.ts'
import { takeAgentTools } from './imported-agent-tools.ts'
import { type ImportDependencies, type Taking, take } from './taking.ts'

type Import = components['schemas']['Import']

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
  keepDigits(given)
  await takeProviders(taking, given.providers ?? [])
  await takePrompts(taking, given.prompts ?? [])
  addWarnings(taking, given.prompts ?? [])
  await takeHttpTools(taking, given.httpTools ?? [])
  await takeMcpServers(taking, given.mcpServers ?? [])
  await takeAgents(taking, given.agents ?? [])
  await takeAgentTools(taking, given.agentTools ?? [])
  return taking
}

/** Puts raw numbers in place of those whose digits are noted: schemas are compared and stored as they were written. */
function keepDigits({ httpTools, agents, agentTools }: Import): void {
  for (const tool of httpTools ?? []) if (tool.inputSchema) tool.inputSchema = exactObject(tool.inputSchema)
  for (const { responseFormat } of agents ?? []) {
    const format = responseFormat?.json_schema
    if (format?.schema) format.schema = exactObject(format.schema)
  }
  for (const { approvals } of agentTools ?? []) {
    for (const one of Array.isArray(approvals) ? approvals : []) {
      if (isObject(one) && isObject(one.when)) one.when = exactObject(one.when)
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
