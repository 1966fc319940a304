/** Takes a copy of the configuration in: record by record, matched by name, inside one transaction. */
import { isDeepStrictEqual } from 'node:util'
import type { components } from '../../../openapi/generated/schema.ts'
import type { Tx } from '../../persistence/postgres/database.ts'
import { changeAgentTools } from '../../persistence/records/agent-tools.ts'
import { createAgent, updateAgent } from '../../persistence/records/agents.ts'
import { changeHttpTool, createHttpTool } from '../../persistence/records/http-tools.ts'
import { changeMcpServer, createMcpServer } from '../../persistence/records/mcp-servers.ts'
import { createPrompt, updatePrompt } from '../../persistence/records/prompts.ts'
import type { Configuration } from '../../persistence/records/transfer.ts'
import { badRequest, HttpError } from '../http-error.ts'
import { givenConfig } from './agents.ts'
import { type HttpToolRooms, httpToolChanges, newHttpTool } from './http-tools.ts'
import { mcpServerChanges, newMcpServer } from './mcp-servers.ts'
import { givenTools } from './tool-choice.ts'

type Import = components['schemas']['Import']
type Result = components['schemas']['ImportResult']
type Kind = Result['skipped'][number]['kind']

interface Named {
  id: string
  name: string
}

export interface ImportRooms extends Pick<HttpToolRooms, 'secrets' | 'checkSchema'> {
  tx: Tx
  builtInTools: readonly { id: string }[]
}

interface Taking {
  rooms: ImportRooms
  stored: Configuration
  result: Result
  changedServers: string[]
}

/** One kind of record. `create` and `update` throw 400 for what cannot be taken in, before they write anything. */
interface Records<Given extends { name: string }> {
  kind: Kind
  noun: string
  given: readonly Given[]
  /** What is created is added. */
  stored: Named[]
  create(given: Given): Promise<Named>
  update(id: string, given: Given): Promise<unknown>
}

/** `stored` is what is there now; nobody else changes it meanwhile. Rejects only by a fault: then nothing is written. */
export async function takeIn(rooms: ImportRooms, given: Import, stored: Configuration) {
  const taking: Taking = { rooms, stored, result: { created: 0, updated: 0, skipped: [] }, changedServers: [] }
  await takePrompts(taking, given.prompts ?? [])
  await takeHttpTools(taking, given.httpTools ?? [])
  await takeMcpServers(taking, given.mcpServers ?? [])
  await takeAgents(taking, given.agents ?? [])
  await takeAgentTools(taking, given.agentTools ?? [])
  return { result: taking.result, changedServers: taking.changedServers }
}

/** Of several records with one name nobody knows which is meant. */
function one<T extends Named>(records: readonly T[], name: string, noun: string): T | null {
  const found = records.filter((record) => record.name === name)
  if (found.length > 1) badRequest(`there are ${found.length} ${noun}s called "${name}"`)
  return found[0] ?? null
}

const existing = <T extends Named>(records: readonly T[], name: string, noun: string): T =>
  one(records, name, noun) ?? badRequest(`there is no ${noun} called "${name}"`)

/** What is given beside what is stored: does it say anything new? Absent fields keep what is stored. */
const isNew = (stored: object, given: object): boolean => !isDeepStrictEqual({ ...stored, ...given }, { ...stored })

async function take<Given extends { name: string }>(
  { result }: Taking,
  { kind, noun, given, stored, create, update }: Records<Given>,
): Promise<void> {
  const seen = new Set<string>()
  for (const record of given) {
    const { name } = record
    try {
      if (seen.has(name)) badRequest('the name is there twice in what is imported')
      seen.add(name)
      const known = one(stored, name, noun)
      if (known === null) {
        const { id } = await create(record)
        stored.push({ ...record, id })
        result.created += 1
      } else if (isNew(known, record)) {
        await update(known.id, record)
        result.updated += 1
      }
    } catch (error) {
      if (!(error instanceof HttpError)) throw error
      result.skipped.push({ kind, name, reason: error.message })
    }
  }
}

const takePrompts = (taking: Taking, given: NonNullable<Import['prompts']>) =>
  take(taking, {
    ...{ kind: 'prompt', noun: 'prompt', given, stored: taking.stored.prompts },
    create: (prompt) => createPrompt(taking.rooms.tx, prompt),
    update: (id, prompt) => updatePrompt(taking.rooms.tx, id, prompt),
  })

const takeHttpTools = (taking: Taking, given: NonNullable<Import['httpTools']>) =>
  take(taking, {
    ...{ kind: 'httpTool', noun: 'HTTP tool', given, stored: taking.stored.httpTools },
    create: async (tool) => createHttpTool(taking.rooms.tx, await newHttpTool(taking.rooms, tool)),
    update: async (id, tool) => changeHttpTool(taking.rooms.tx, id, await httpToolChanges(taking.rooms, tool)),
  })

const takeMcpServers = (taking: Taking, given: NonNullable<Import['mcpServers']>) =>
  take(taking, {
    ...{ kind: 'mcpServer', noun: 'MCP server', given, stored: taking.stored.mcpServers },
    create: (server) => createMcpServer(taking.rooms.tx, newMcpServer(taking.rooms, server)),
    async update(id, server) {
      await changeMcpServer(taking.rooms.tx, id, mcpServerChanges(taking.rooms, server))
      taking.changedServers.push(id)
    },
  })

async function takeAgents(taking: Taking, given: NonNullable<Import['agents']>): Promise<void> {
  const { tx } = taking.rooms
  const { providers, prompts, agents } = taking.stored
  const fields = ({ name, provider, model, prompt, generationConfig }: (typeof given)[number]) => ({
    ...{ name, model, providerId: existing(providers, provider, 'provider').id },
    promptId: prompt == null ? prompt : existing(prompts, prompt, 'prompt').id,
    generationConfig: generationConfig === undefined ? undefined : givenConfig(generationConfig),
  })
  await take(taking, {
    ...{ kind: 'agent', noun: 'agent', given, stored: agents },
    create(agent) {
      const { promptId = null, generationConfig = {}, ...rest } = fields(agent)
      return createAgent(tx, { ...rest, promptId, generationConfig })
    },
    update: (id, agent) => updateAgent(tx, id, fields(agent)),
  })
}

type Choice = NonNullable<Import['agentTools']>[number]

/** The parts of a choice that are here. The others are told as skipped: one that is missing takes no other along. */
function partsHere({ rooms, stored, result }: Taking, { agent: name, ...choice }: Choice): Omit<Choice, 'agent'> {
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
  const { httpTools, mcpServers, builtInTools } = choice
  const findBuiltIn = (id: string) =>
    rooms.builtInTools.some((tool) => tool.id === id) || badRequest(`there is no built-in tool called "${id}"`)
  return {
    ...(httpTools && { httpTools: here(httpTools, (tool) => existing(stored.httpTools, tool, 'HTTP tool')) }),
    ...(mcpServers && {
      mcpServers: here(mcpServers, ({ server }) => existing(stored.mcpServers, server, 'MCP server')),
    }),
    ...(builtInTools && { builtInTools: here(builtInTools, findBuiltIn) }),
  }
}

async function takeAgentTools(taking: Taking, given: readonly Choice[]): Promise<void> {
  const { tx, builtInTools } = taking.rooms
  const { agents, httpTools, mcpServers, agentTools } = taking.stored
  const known = new Map(agentTools.map(({ id, name: _, ...tools }) => [id, tools]))
  const none = { httpTools: [], mcpServers: [], builtInTools: [] }
  const isKnown = (name: string) => agents.some((agent) => agent.name === name)
  await take(taking, {
    ...{ kind: 'agentTools', noun: 'agent' },
    given: given.map(({ agent: name, ...tools }) => ({
      name,
      ...(isKnown(name) ? partsHere(taking, { agent: name, ...tools }) : tools),
    })),
    // A choice belongs to its agent: that of an agent which was made above is a change of nothing.
    stored: agents.map(({ id, name }) => ({ ...(known.get(id) ?? none), id, name })),
    create: async ({ name }) => existing(agents, name, 'agent'),
    update: (id, choice) =>
      changeAgentTools(
        tx,
        id,
        givenTools(
          {
            httpToolIds: choice.httpTools?.map((name) => existing(httpTools, name, 'HTTP tool').id),
            mcpServers: choice.mcpServers?.map(({ server, toolNames }) => ({
              mcpServerId: existing(mcpServers, server, 'MCP server').id,
              toolNames,
            })),
            builtInToolIds: choice.builtInTools,
          },
          builtInTools,
        ),
      ),
  })
}
