/** What a toolbox is made of, where a test says only a part. */
import type { ToolboxConfig } from '../../src/tools/toolbox.ts'

export function toolboxConfig(part: Partial<ToolboxConfig> = {}): ToolboxConfig {
  const tools = { httpTools: [], mcpServers: [], builtInToolIds: [], agentTools: [], ...part }
  const mcpServers = tools.mcpServers.map(({ server, toolNames }) => ({ id: server.id, name: server.name, toolNames }))
  const configured = {
    httpTools: tools.httpTools,
    mcpServers,
    builtInToolIds: tools.builtInToolIds,
    agentTools: tools.agentTools.map(({ agentId, name }) => ({ id: agentId, name })),
  }
  return { approvals: [], named: {}, configured, ...tools }
}
