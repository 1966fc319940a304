/** The rules of contract section 25 on tools as people have them: a part of requirements.ts. */
import { mcp } from './requirements-mcp.ts'

export const tools = {
  ...mcp,
  'contract-25.tool-names':
    'A name that was changed, or that another configured tool shares, ends in _ and six digits of the tool’s identity.',
  'contract-25.approved-identities':
    'Approvals name tools by identity; what a string names is worked out when it is saved, and kept.',
  'contract-25.approved-nothing': 'An approval that names no tool makes every call of the agent wait.',
  'contract-25.old-approvals': 'Approvals of before are worked out at the first start.',
  'contract-25.waiting-tool': 'A call that waited runs the tool that it was asked of, else none.',
  'contract-25.approval-kept':
    'A call that needs approval is never made because names, orders, servers that answer or records have changed.',
  'contract-25.tool-schemas':
    'A tool whose schema the model’s vendor refuses is offered with one that it takes; its own decides about arguments.',
  'contract-25.mcp-nulls':
    'Null where an MCP server may leave a field out is absent; what cannot be read is left out by itself.',
  'contract-25.mcp-words': 'An MCP server’s 4xx or JSON-RPC error reaches the model in its own words.',
  'contract-25.tool-pictures': 'A tool’s picture reaches a model that takes pictures.',
  'contract-25.mcp-sessions': 'A session that the server no longer knows, in whatever words, is opened anew once.',
  'contract-25.data-folder':
    'Root without DATA_DIR, in a folder that the database’s OS user cannot enter: /var/lib/greenroom, unless ./data exists.',
  'contract-25.response-headers': '64 KiB of response headers are read.',
  'contract-25.read-only-database':
    'A connection that says it is read-only is given up; /readyz is 503 until there is one that is not.',
  'contract-25.once-more': 'What fails with 40001 or 40P01 is tried once more.',
  'contract-25.database-surroundings':
    'Date style, time zone and isolation of the role or database change nothing; another encoding than UTF-8 stops the start.',
} as const
