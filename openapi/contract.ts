/** All operations, by tag. The order is that of the document. */

import type { Operations } from './operation.ts'
import { agents } from './operations/agents.ts'
import { agentTools } from './operations/agentTools.ts'
import { allSessions } from './operations/allSessions.ts'
import { auth } from './operations/auth.ts'
import { builtInTools } from './operations/builtInTools.ts'
import { completions } from './operations/completions.ts'
import { debug } from './operations/debug.ts'
import { health } from './operations/health.ts'
import { httpTools } from './operations/httpTools.ts'
import { mcpServers } from './operations/mcpServers.ts'
import { playground } from './operations/playground.ts'
import { prompts } from './operations/prompts.ts'
import { providers } from './operations/providers.ts'
import { sessionCompletions } from './operations/sessionCompletions.ts'
import { sessions } from './operations/sessions.ts'
import { transfer } from './operations/transfer.ts'
import { usage } from './operations/usage.ts'

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
  { name: 'agentTools', description: 'Which tools an agent may call.', operations: agentTools },
  { name: 'builtInTools', description: 'Tools that come with the server.', operations: builtInTools },
  { name: 'httpTools', description: 'Tools that are one HTTP request.', operations: httpTools },
  { name: 'mcpServers', description: 'Servers that offer tools over MCP.', operations: mcpServers },
  { name: 'completions', description: 'Deploy API, stateless: the caller keeps the history.', operations: completions },
  { name: 'sessions', description: 'Deploy API: conversations that the server keeps.', operations: sessions },
  {
    name: 'sessionCompletions',
    description: 'Deploy API, stateful: send, follow and cancel replies. Every token is stored before it is shown.',
    operations: sessionCompletions,
  },
  { name: 'playground', description: 'The same sessions, for the management UI.', operations: playground },
  { name: 'allSessions', description: 'The sessions of all agents, for operators.', operations: allSessions },
  { name: 'debug', description: 'The state chart, and what sessions did.', operations: debug },
  { name: 'usage', description: 'Tokens, counted.', operations: usage },
  { name: 'transfer', description: 'Export and import of the configuration.', operations: transfer },
]
