/** The tools of agents: HTTP tools, MCP servers, built-in tools. */
import Type from 'typebox'
import { documented, webAddress } from '../../documented.ts'
import { asRead, freeObject, id, listOf, name, nullable, oneOf, optional, timestamps } from '../basics.ts'

const headerMap = Type.Unsafe({
  type: 'object',
  additionalProperties: { type: 'string' },
  description:
    'Header names and values. Values of headers whose names suggest a secret are encrypted at rest and read back as `***`.',
})
const headersInput = Type.Unsafe({
  type: ['object', 'null'],
  additionalProperties: { type: 'string' },
  description:
    'Replaced as a whole, 100 at most. `***` keeps the value stored under that name; 400 if there is none. Null when there are no headers.',
})

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const
const httpToolFields = {
  name: name(
    'For the model, every character outside `[a-zA-Z0-9_-]` is replaced by `_`; a name that was changed, or that another ' +
      'tool of the agent shares, ends in `_` and six digits of the tool.',
  ),
  description: Type.String({ description: 'Tells the model when to use the tool.' }),
  method: oneOf(methods, 'HTTP method.'),
  url: Type.String({
    minLength: 1,
    description: 'May hold `{{argument}}` in path and query. User and password inside: 400.',
    ...webAddress,
  }),
}
const body = nullable(
  Type.String({
    description: 'May hold `{{argument}}`. When null, arguments without a place in a template become a JSON body.',
  }),
)
export const HttpTool = Type.Object(
  {
    id: id('Id of the tool.'),
    ...httpToolFields,
    headers: headerMap,
    body,
    inputSchema: nullable(freeObject('JSON Schema of an object: the arguments. Null allows any.')),
    ...timestamps,
    warning: Type.Optional(
      Type.String({ description: 'Keywords of `inputSchema` that are not applied; in answers to saving alone.' }),
    ),
  },
  { title: 'HttpTool' },
)
export const HttpToolList = listOf('HttpToolList', 'httpTools', HttpTool)
const httpToolOptions = {
  headers: headersInput,
  body,
  inputSchema: nullable(freeObject('JSON Schema of an object, replaced as a whole. Null allows any arguments.')),
}
export const HttpToolCreate = Type.Object(
  { ...httpToolFields, ...optional(httpToolOptions) },
  { title: 'HttpToolCreate', ...asRead },
)
export const HttpToolUpdate = Type.Object(optional({ ...httpToolFields, ...httpToolOptions }), {
  title: 'HttpToolUpdate',
  description: 'A `url` with another origin must come with all secret headers again, else 400 and nothing changes.',
})
const mcpServerFields = {
  name: name('Tools are offered to the model as `<server>__<tool>`.'),
  transport: oneOf(['sse', 'streamable_http'], 'The transport that the server uses.'),
  url: Type.String({ minLength: 1, description: 'User and password inside: 400.', ...webAddress }),
}
const sendUser = Type.Boolean({
  description:
    'Whether calls of its tools tell it the user and the session: `_meta["greenroom/user"]` and `_meta["greenroom/session"]`, each absent where there is none.',
})
const sendUserInput = nullable(sendUser) // null: as when it is absent on creation
const auth = oneOf(
  ['none', 'user'],
  '`user`: each user signs in by OAuth, and calls are made with their own grant. It needs `streamable_http`, no configured header `authorization`, and `PUBLIC_URL`, else 400.',
)
const oauthClientId = nullable(
  Type.String({ minLength: 1, maxLength: 2000, description: 'A client that is registered already. Null: none is.' }),
)
const signIn = { auth, oauthClientId }
const signInInput = {
  auth: nullable(auth),
  oauthClientId,
  oauthClientSecret: nullable(
    Type.String({ minLength: 1, maxLength: 2000, description: 'Its secret. Null clears it, `***` keeps it.' }),
  ),
}
export const McpServer = Type.Object(
  {
    id: id('Id of the server.'),
    ...mcpServerFields,
    sendUser,
    headers: headerMap,
    ...signIn,
    oauthClientSecret: nullable(Type.String({ description: '`***` where there is one.' })),
    ...timestamps,
  },
  { title: 'McpServer' },
)
export const McpServerList = listOf('McpServerList', 'mcpServers', McpServer)
export const McpServerCreate = Type.Object(
  { ...mcpServerFields, ...optional({ sendUser: sendUserInput, headers: headersInput, ...signInInput }) },
  { title: 'McpServerCreate', ...asRead },
)
export const McpServerUpdate = Type.Object(
  optional({ ...mcpServerFields, sendUser: sendUserInput, headers: headersInput, ...signInInput }),
  {
    title: 'McpServerUpdate',
    description: 'A `url` with another origin must come with all secret headers again, else 400 and nothing changes.',
  },
)
export const McpTools = Type.Object(
  {
    tools: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: "The server's name for it, as in `toolNames`." }),
          description: Type.String(),
          inputSchema: freeObject('JSON Schema of the arguments.'),
        },
        { title: 'McpTool' },
      ),
    ),
    warning: Type.Optional(
      Type.String({ description: 'Why tools may be missing: a later page of the server’s list went wrong.' }),
    ),
  },
  { title: 'McpTools' },
)

export const BuiltInTool = Type.Object(
  { id: Type.String({ description: 'Such as `web_fetch`.' }), name: Type.String(), description: Type.String() },
  { title: 'BuiltInTool' },
)
export const BuiltInToolList = Type.Object({ builtInTools: Type.Array(BuiltInTool) }, { title: 'BuiltInToolList' })

const McpSelection = Type.Object(
  {
    mcpServerId: Type.String({ description: 'Id of an MCP server.' }),
    toolNames: Type.Array(Type.String(), { description: '`["*"]`: every tool that the server offers. `[]`: none.' }),
  },
  { title: 'McpSelection' },
)
const agentToolTexts = {
  name: nullable(
    Type.String({ minLength: 1, maxLength: 200, description: 'Name of the tool. Null: the name of the agent.' }),
  ),
  description: nullable(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: 'What it is for. Null: made from the name of the agent.',
    }),
  ),
}
const toolChoice = {
  httpToolIds: Type.Array(Type.String(), { description: 'Ids of HTTP tools.' }),
  mcpServers: Type.Array(McpSelection),
  builtInToolIds: Type.Array(Type.String(), { description: 'Ids of built-in tools.' }),
  agentTools: Type.Array(
    Type.Object(
      { agentId: Type.String({ description: 'Id of the agent that is asked.' }), ...agentToolTexts },
      { title: 'AgentTool' },
    ),
    { description: 'Agents that it may ask: a call makes a child session.' },
  ),
}
const AgentToolInput = Type.Object(
  {
    agentId: Type.String({ minLength: 1, description: 'Id of the agent that is asked.' }),
    ...optional(agentToolTexts),
  },
  { title: 'AgentToolInput', additionalProperties: false },
)
const agentToolsInput = Type.Array(AgentToolInput, {
  maxItems: 32,
  description: 'Agents that it may ask, each once. None may reach itself, nor a way be longer than three calls.',
})
/** Longest name of a tool in `approvals`. */
export const MAX_APPROVAL = 256
/** The fields that identify a tool, by kind. */
export const toolIdentities = [
  { builtInToolId: { type: 'string', description: 'Id of a built-in tool.' } },
  { httpToolId: { type: 'string', description: 'Id of an HTTP tool.' } },
  { agentId: { type: 'string', description: 'Id of an agent that is asked.' } },
  {
    mcpServerId: { type: 'string', description: 'Id of an MCP server.' },
    toolName: { type: 'string', description: "The server's own name for the tool. `*`: each of its tools." },
  },
] as const
/** The same in exports, which name records instead of ids. */
export const toolsByName = [
  { builtInTool: { type: 'string', description: 'Id of a built-in tool.' } },
  { httpTool: { type: 'string', description: 'Name of an HTTP tool.' } },
  { agent: { type: 'string', description: 'Name of an agent that is asked.' } },
  {
    mcpServer: { type: 'string', description: 'Name of an MCP server.' },
    toolName: { type: 'string', description: "The server's own name for the tool. `*`: each of its tools." },
  },
] as const
const approvalsDescription =
  'The tools whose calls wait until somebody approves them: by identity, or by a name as models see it, which stands for ' +
  'the tools that have it when it is saved. A name that no tool has makes every call wait. `"*"`: every tool of the agent.'
/** Fields of an element besides its tool. */
const conditions = {
  when: {
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'JSON Schema of an object: only calls whose arguments match it wait. Null: all do.',
  },
  mayRemember: {
    type: ['string', 'null'],
    enum: ['session', 'user', null],
    description: 'For how long a client secret may have a decision remembered. Null: not at all.',
  },
}
const everyTool = { type: 'string', enum: ['*'] }
/** Returns a list, or `"*"` instead of it. A handler says what is wrong with an element. */
const approvalsOf = (tools: readonly Record<string, object>[], more: readonly object[], description: string) => {
  const name = { type: 'string', minLength: 1, maxLength: MAX_APPROVAL }
  const identities = tools.map((properties) => ({
    type: 'object',
    properties: { ...properties, ...conditions },
    required: Object.keys(properties),
    additionalProperties: false,
  }))
  const list = { type: 'array', maxItems: 1000 }
  return Type.Unsafe({
    anyOf: [list, everyTool, ...more],
    description,
    ...documented({ anyOf: [{ ...list, items: { anyOf: [name, ...identities] } }, everyTool, ...more] }),
  })
}
const approvals = approvalsOf(toolIdentities, [], approvalsDescription)
const approvalsInput = approvalsOf(
  toolIdentities,
  [{ type: 'null' }],
  `${approvalsDescription} Null when there are none.`,
)
export const agentToolsTransfer = Type.Array(
  Type.Object(
    { agent: Type.String({ description: 'Name of the agent that is asked.' }), ...optional(agentToolTexts) },
    { additionalProperties: false },
  ),
  { maxItems: 32, description: 'Agents that it may ask.' },
)
export const approvalsTransfer = approvalsOf(toolsByName, [], approvalsDescription)
/** The same arrays, each optional, null for none. */
export const toolChoiceInput = optional(
  Object.fromEntries(
    Object.entries({ ...toolChoice, agentTools: agentToolsInput }).map(([kind, schema]) => [kind, nullable(schema)]),
  ),
)
/** An approval that nobody has decided for so long is rejected. */
export const approvalsExpireAfterS = nullable(
  Type.Integer({
    minimum: 60,
    maximum: 7_776_000,
    description: 'Seconds after which a call that nobody has decided is rejected. Null: never.',
  }),
)
export const AgentTools = Type.Object({ ...toolChoice, approvals, approvalsExpireAfterS }, { title: 'AgentTools' })
export const AgentToolsUpdate = Type.Object(
  { ...toolChoiceInput, ...optional({ approvals: approvalsInput, approvalsExpireAfterS }) },
  {
    title: 'AgentToolsUpdate',
    description: 'Absent arrays stay as they are, `[]` or null clears. Unknown ids: 400.',
  },
)
