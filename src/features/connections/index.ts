/** The door of connections: the sign-ins of users at MCP servers (contract section 27). */
export { createGrants } from './grants.ts'
export { connectionHandlers, mcpConnectionHandlers } from './routes/connection-handlers.ts'
export { registerSignIns } from './routes/sign-in-routes.ts'
export { createSignIns, type SignIns } from './sign-in.ts'
export { deleteUserConnections, userConnections } from './store/connections.ts'
export { repliesAfterSignIns } from './store/sign-ins.ts'
