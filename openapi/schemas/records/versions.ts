/** Versions of agents, and their drafts. */
import Type from 'typebox'
import { id, listOf, name, nullable, objectOrNull, page, time } from '../basics.ts'
import { Agent } from './configuration.ts'
import { AgentTools } from './tools.ts'

const number = Type.Integer({ minimum: 1, description: 'Number of the version, from 1 for each agent.' })
export const versionNote = nullable(
  Type.String({ minLength: 1, maxLength: 500, description: 'Why it was published. 1 to 500 characters.' }),
)
const head = {
  number,
  createdAt: time('When it was made.'),
  createdBy: nullable(
    Type.String({ description: 'Name of the login or key. Null when it has none, or is not known.' }),
  ),
  note: nullable(Type.String({ description: 'Why it was published.' })),
  live: Type.Boolean({ description: 'Whether it is the one that requests use which ask for no other.' }),
}
export const AgentVersion = Type.Object(head, { title: 'AgentVersion' })
export const AgentVersionList = listOf('AgentVersionList', 'versions', AgentVersion)

const { providerId, model, promptId, systemPrompt, generationConfig, responseFormat } = Agent.properties
const { fallbacks, historyMaxTokens, callerInstructions, compaction, onLoss, onMissingTools } = Agent.properties
const VersionFields = Type.Object(
  {
    ...{ providerId, model, promptId, systemPrompt, generationConfig, responseFormat },
    ...{ fallbacks, historyMaxTokens, callerInstructions, compaction, onLoss, onMissingTools },
  },
  { title: 'VersionFields', description: 'The fields of the agent that a version holds.' },
)
export const AgentVersionDetail = Type.Object(
  {
    ...head,
    agent: VersionFields,
    tools: AgentTools,
    prompt: objectOrNull(
      { id: id('Id of the prompt.'), name: name('Its name then.'), content: Type.String() },
      'The prompt as it was then. Null without one.',
    ),
  },
  { title: 'AgentVersionDetail' },
)
export const versionPage = page
export const PublishRequest = Type.Object({ note: Type.Optional(versionNote) }, { title: 'PublishRequest' })
