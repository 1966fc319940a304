/** Types of tools. */
import { expect } from 'vitest'
import { type Kit, type Step, TOOL } from './kit.ts'

export function toolSteps({ called, honoured, tool }: Kit): Step[] {
  const functionTools = 'A tool of type `function` that the caller runs, or an MCP server of the agent'
  return [
    honoured(TOOL, 'function', '`strict` too; the caller runs it', async () =>
      expect((await called()).output.map(({ type }) => type)).toEqual(['function_call']),
    ),
    tool('web_search', 'The agent’s tool `web_fetch`, an HTTP tool or an MCP server of the agent'),
    tool('web_search_preview', 'As `web_search`'),
    tool('file_search', 'An HTTP tool or an MCP server of the agent, or `input_file`'),
    tool('mcp', 'An MCP server of the agent'),
    ...[
      'code_interpreter',
      'image_generation',
      'computer',
      'computer_use_preview',
      'local_shell',
      'shell',
      'apply_patch',
      'custom',
      'namespace',
      'tool_search',
      'programmatic_tool_calling',
    ].map((type) => tool(type, functionTools)),
  ]
}
