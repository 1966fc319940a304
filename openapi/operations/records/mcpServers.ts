import { operations } from '../../operation.ts'
import { searchPage } from '../../schemas/basics.ts'
import { McpToolTest, McpToolTestRequest } from '../../schemas/records/tool-tests.ts'
import { McpServer, McpServerCreate, McpServerList, McpServerUpdate, McpTools } from '../../schemas/records/tools.ts'

const one = '/api/v1/mcp-servers/{id}'
const unknown = 'There is no such MCP server.'

export const mcpServers = operations({
  listMcpServers: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/mcp-servers',
    scope: 'management',
    role: 'viewer',
    summary: 'List MCP servers, oldest first',
    query: searchPage,
    responses: { 200: McpServerList },
  },
  createMcpServer: {
    method: 'post',
    path: '/api/v1/mcp-servers',
    scope: 'management',
    role: 'editor',
    summary: 'Create an MCP server',
    body: McpServerCreate,
    responses: { 201: McpServer },
  },
  getMcpServer: {
    method: 'get',
    path: one,
    scope: 'management',
    role: 'viewer',
    summary: 'Read an MCP server',
    responses: { 200: McpServer },
    errors: { 404: unknown },
  },
  updateMcpServer: {
    method: 'put',
    path: one,
    scope: 'management',
    role: 'editor',
    summary: 'Change an MCP server',
    description: 'Changes the fields in the body; `headers` is replaced as a whole.',
    body: McpServerUpdate,
    responses: { 200: McpServer },
    errors: { 404: unknown },
  },
  deleteMcpServer: {
    method: 'delete',
    path: one,
    scope: 'management',
    role: 'editor',
    summary: 'Delete an MCP server',
    description: 'Also removes it from the tool configurations of agents.',
    responses: { 204: null },
    errors: { 404: unknown },
  },
  listMcpServerTools: {
    method: 'get',
    refusesUnknown: true,
    path: `${one}/tools`,
    scope: 'management',
    role: 'viewer',
    summary: 'List the tools of an MCP server',
    responses: { 200: McpTools },
    errors: { 404: unknown, 502: 'The server cannot be reached, or its response is invalid.' },
  },
  testMcpServer: {
    method: 'post',
    path: `${one}/test`,
    scope: 'management',
    role: 'editor',
    summary: 'Call a tool of an MCP server once',
    description:
      'Calls it as a model would, outside of any session: the server cannot ask a user. Always 200: see `ok`.',
    body: McpToolTestRequest,
    maxBodyBytes: 256 * 1024, // arguments are of the size that a model writes
    responses: { 200: McpToolTest },
    errors: { 404: unknown, 502: 'The stored secret headers cannot be decrypted.' },
  },
})
