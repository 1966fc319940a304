/** All operations by tag, in document order. */

import type { Operations } from './operation.ts'
import { agUi } from './operations/deploy/agUi.ts'
import { aiSdk } from './operations/deploy/aiSdk.ts'
import { childSessions } from './operations/deploy/childSessions.ts'
import { clientSecrets } from './operations/deploy/clientSecrets.ts'
import { completions } from './operations/deploy/completions.ts'
import { connections } from './operations/deploy/connections.ts'
import { agentConversations, conversations } from './operations/deploy/conversations.ts'
import { decisions } from './operations/deploy/decisions.ts'
import { feedback } from './operations/deploy/feedback.ts'
import { agentFiles, files } from './operations/deploy/files.ts'
import { mcp } from './operations/deploy/mcp.ts'
import { models } from './operations/deploy/models.ts'
import { agentResponses, responses } from './operations/deploy/responses.ts'
import { search } from './operations/deploy/search.ts'
import { sessionCompletions } from './operations/deploy/sessionCompletions.ts'
import { sessions } from './operations/deploy/sessions.ts'
import { shares } from './operations/deploy/shares.ts'
import { users } from './operations/deploy/users.ts'
import { allSessions } from './operations/operators/allSessions.ts'
import { audit } from './operations/operators/audit.ts'
import { auth } from './operations/operators/auth.ts'
import { debug } from './operations/operators/debug.ts'
import { health } from './operations/operators/health.ts'
import { knownDecisions } from './operations/operators/knownDecisions.ts'
import { playground } from './operations/operators/playground.ts'
import { playgroundChildren } from './operations/operators/playgroundChildren.ts'
import { replyTraces } from './operations/operators/replyTraces.ts'
import { usage } from './operations/operators/usage.ts'
import { agents } from './operations/records/agents.ts'
import { agentTools } from './operations/records/agentTools.ts'
import { builtInTools } from './operations/records/builtInTools.ts'
import { httpTools } from './operations/records/httpTools.ts'
import { keys } from './operations/records/keys.ts'
import { mcpConnections } from './operations/records/mcpConnections.ts'
import { mcpServers } from './operations/records/mcpServers.ts'
import { prices } from './operations/records/prices.ts'
import { prompts } from './operations/records/prompts.ts'
import { providers } from './operations/records/providers.ts'
import { replays } from './operations/records/replays.ts'
import { transfer } from './operations/records/transfer.ts'
import { versions } from './operations/records/versions.ts'
import { webhooks } from './operations/records/webhooks.ts'

interface Tag {
  name: string
  description: string
  operations: Operations
}

export const tags: readonly Tag[] = [
  { name: 'health', description: 'Probes. No credentials.', operations: health },
  { name: 'auth', description: 'Login of the management API.', operations: auth },
  { name: 'providers', description: 'Connections to model vendors.', operations: providers },
  { name: 'prompts', description: 'System prompts.', operations: prompts },
  { name: 'agents', description: 'A model with a prompt and settings.', operations: agents },
  { name: 'versions', description: 'Versions and drafts of an agent.', operations: versions },
  { name: 'replays', description: 'Stored questions that are asked again under another version.', operations: replays },
  { name: 'agentTools', description: 'Which tools an agent may call.', operations: agentTools },
  { name: 'builtInTools', description: 'Tools that come with the server.', operations: builtInTools },
  { name: 'httpTools', description: 'Tools that are one HTTP request.', operations: httpTools },
  { name: 'mcpServers', description: 'Servers that offer tools over MCP.', operations: mcpServers },
  { name: 'mcpConnections', description: 'Sign-ins of users at MCP servers.', operations: mcpConnections },
  { name: 'completions', description: 'Deploy API, stateless: the caller keeps the history.', operations: completions },
  { name: 'models', description: 'Deploy API: agents as models, for clients that choose one.', operations: models },
  { name: 'sessions', description: 'Deploy API: conversations that the server keeps.', operations: sessions },
  {
    name: 'sessionCompletions',
    description: 'Deploy API, stateful: send, follow and cancel replies. Every token is stored before it is shown.',
    operations: sessionCompletions,
  },
  {
    name: 'childSessions',
    description: 'Deploy API: the sessions that answer calls of another.',
    operations: childSessions,
  },
  { name: 'feedback', description: 'Deploy API: what users think of replies.', operations: feedback },
  { name: 'search', description: 'Deploy API: search in the text of messages.', operations: search },
  { name: 'shares', description: 'Deploy API: sessions that others may read.', operations: shares },
  {
    name: 'responses',
    description: 'Deploy API in the format of OpenAI’s Responses and Conversations, on the same sessions.',
    operations: responses,
  },
  { name: 'conversations', description: 'Sessions as OpenAI’s conversations.', operations: conversations },
  {
    name: 'agentConversations',
    description: 'The same, where `model` or an id names the agent.',
    operations: agentConversations,
  },
  {
    name: 'agentResponses',
    description: 'The same, where `model` or an id names the agent.',
    operations: agentResponses,
  },
  { name: 'files', description: 'Files that users upload, for messages to name.', operations: files },
  { name: 'agentFiles', description: 'The same, where `model` or an id names the agent.', operations: agentFiles },
  { name: 'aiSdk', description: 'Deploy API for the AI SDK: `useChat` on the same sessions.', operations: aiSdk },
  { name: 'agUi', description: 'Deploy API for AG-UI, on the same sessions.', operations: agUi },
  { name: 'mcp', description: 'Deploy API: the agent as an MCP server.', operations: mcp },
  {
    name: 'clientSecrets',
    description: "Deploy API: what a backend hands to a browser, so that it reaches its user's sessions.",
    operations: clientSecrets,
  },
  { name: 'users', description: "Deploy API: an agent's end users.", operations: users },
  {
    name: 'connections',
    description: 'Deploy API: MCP servers that users have signed in at.',
    operations: connections,
  },
  { name: 'decisions', description: 'Deploy API: decisions about calls that are remembered.', operations: decisions },
  {
    name: 'knownDecisions',
    description: 'Decisions about calls that are remembered, for operators.',
    operations: knownDecisions,
  },
  { name: 'playground', description: 'The same sessions, for the management UI.', operations: playground },
  {
    name: 'playgroundChildren',
    description: 'The sessions that answer calls of another, for the management UI.',
    operations: playgroundChildren,
  },
  { name: 'allSessions', description: 'The sessions of all agents, for operators.', operations: allSessions },
  { name: 'debug', description: 'The state chart, and what sessions did.', operations: debug },
  { name: 'replyTraces', description: 'What happened in one reply.', operations: replyTraces },
  { name: 'usage', description: 'Token counts.', operations: usage },
  { name: 'prices', description: 'What models cost, as the operator has entered it.', operations: prices },
  { name: 'keys', description: 'Named keys of the deploy and management APIs.', operations: keys },
  { name: 'webhooks', description: 'Addresses that are told how replies end.', operations: webhooks },
  { name: 'audit', description: 'Who changed what.', operations: audit },
  { name: 'transfer', description: 'Export and import of the configuration.', operations: transfer },
]
