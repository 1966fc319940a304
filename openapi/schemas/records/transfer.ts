/** A portable copy of the configuration. References are by name, so that it fits another database. */
import Type from 'typebox'
import { readOnly } from '../../read-only.ts'
import { asRead, count, name, nullable, oneOf, optional } from '../basics.ts'
import {
  allowedOriginsInput,
  allowSharing,
  callerInstructionsInput,
  compactionInput,
  fallbacksOf,
  GenerationConfigInput,
  historyMaxTokens,
  onLossInput,
  onMissingToolsInput,
  PromptCreate,
  providerTypeIds,
  responseFormatInput,
  systemPrompt,
  userLimitsInput,
  wireApis,
} from './configuration.ts'
import {
  agentToolsTransfer,
  approvalsExpireAfterS,
  approvalsTransfer,
  HttpToolCreate,
  McpServerCreate,
} from './tools.ts'

const AgentTransfer = Type.Object(
  {
    name: name('Name of the agent.'),
    provider: Type.String({ description: 'Name of its provider, which must exist in the target.' }),
    model: name('Model name.'),
    prompt: Type.Optional(nullable(Type.String({ description: 'Name of its prompt, or null.' }))),
    systemPrompt: Type.Optional(systemPrompt),
    generationConfig: Type.Optional(GenerationConfigInput),
    responseFormat: Type.Optional(responseFormatInput),
    fallbacks: Type.Optional(
      fallbacksOf({ provider: Type.String({ description: 'Name of a provider, which must exist.' }) }),
    ),
    allowedOrigins: Type.Optional(allowedOriginsInput),
    allowSharing: Type.Optional(allowSharing),
    historyMaxTokens: Type.Optional(historyMaxTokens),
    callerInstructions: Type.Optional(callerInstructionsInput),
    userLimits: Type.Optional(userLimitsInput),
    compaction: Type.Optional(compactionInput),
    onLoss: Type.Optional(onLossInput),
    onMissingTools: Type.Optional(onMissingToolsInput),
  },
  { title: 'AgentTransfer', ...asRead },
)
const AgentToolsTransfer = Type.Object(
  {
    agent: Type.String({ description: 'Name of the agent.' }),
    httpTools: Type.Optional(Type.Array(Type.String(), { description: 'Names of HTTP tools.' })),
    mcpServers: Type.Optional(
      Type.Array(
        Type.Object({
          server: Type.String({ description: 'Name of an MCP server.' }),
          toolNames: Type.Array(Type.String()),
        }),
      ),
    ),
    builtInTools: Type.Optional(Type.Array(Type.String(), { description: 'Ids of built-in tools.' })),
    agentTools: Type.Optional(agentToolsTransfer),
    approvals: Type.Optional(approvalsTransfer),
    approvalsExpireAfterS: Type.Optional(approvalsExpireAfterS),
  },
  { title: 'AgentToolsTransfer', ...asRead },
)

const ProviderTransfer = Type.Object(
  {
    name: name('Name of the provider.'),
    ...optional({
      providerType: oneOf(providerTypeIds, 'Its type, which cannot be changed.'),
      baseUrl: nullable(Type.String({ description: 'Its address. Null: the address of its type.' })),
      wireApi: nullable(oneOf(wireApis, 'The API by which it is called. Null: that of its type.')),
      apiKey: nullable(
        Type.String({ description: '`***`: it has one, which is not copied; on import it keeps what is there.' }),
      ),
    }),
  },
  {
    title: 'ProviderTransfer',
    description:
      'Types, addresses and keys stand here with `providers=whole`. Without `providerType` it must exist in the target.',
    ...readOnly('id', 'hasApiKey', 'apiKeyHint', 'createdAt', 'updatedAt'),
  },
)

const parts = {
  providers: Type.Array(ProviderTransfer),
  prompts: Type.Array(PromptCreate),
  agents: Type.Array(AgentTransfer),
  httpTools: Type.Array(HttpToolCreate),
  mcpServers: Type.Array(McpServerCreate),
  agentTools: Type.Array(AgentToolsTransfer),
}
const version = Type.Unsafe({ type: 'integer', enum: [1], description: 'Version of this format.' })

export const Export = Type.Object(
  { version, ...parts },
  { title: 'Export', description: 'Without secrets: values of secret headers are `***`.' },
)
export const Import = Type.Object(
  { version, ...Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, Type.Optional(part)])) },
  { title: 'Import', description: 'Records are matched by name: existing ones are updated, others are created.' },
)
export const exportQuery = Type.Object({
  providers: Type.Optional(
    oneOf(['named', 'whole'], '`named`, the default: names and APIs alone. `whole`: with types and addresses too.'),
  ),
})
export const importQuery = Type.Object({
  draft: Type.Optional(
    oneOf(['true', 'false'], 'With `true` only drafts of agents that are here are changed, for somebody to publish.'),
  ),
  dryRun: Type.Optional(
    oneOf(['true', 'false'], '`true`: says what would change, under `changes`, and changes nothing.'),
  ),
})
const ImportedChange = Type.Object(
  {
    action: oneOf(['create', 'update'], 'What would be done.'),
    kind: Type.String({ description: 'Kind of record.' }),
    name: nullable(Type.String()),
    changes: Type.Unsafe<Record<string, { from: unknown; to: unknown }>>({
      type: 'object',
      additionalProperties: { type: 'object', required: ['from', 'to'], properties: { from: {}, to: {} } },
      description: 'Each field that would change, as the audit shows it.',
    }),
  },
  { title: 'ImportedChange' },
)
export const ImportResult = Type.Object(
  {
    changes: Type.Optional(Type.Array(ImportedChange, { description: 'With `dryRun=true` alone.' })),
    created: count('Number of records created.'),
    updated: count('Number of records updated.'),
    skipped: Type.Array(
      Type.Object({
        kind: oneOf(['provider', 'prompt', 'agent', 'httpTool', 'mcpServer', 'agentTools'], 'Kind of record.'),
        name: Type.String(),
        reason: Type.String(),
      }),
    ),
    warnings: Type.Optional(
      Type.Array(
        Type.Object({
          kind: oneOf(['prompt'], 'Kind of record.'),
          name: Type.String(),
          message: Type.String({ description: 'As saving the record answers it.' }),
        }),
        { description: 'Absent where there are none.' },
      ),
    ),
  },
  { title: 'ImportResult' },
)
