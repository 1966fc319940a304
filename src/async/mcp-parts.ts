/** The MCP SDK, loaded in parts, its halves on their own. */
import { inParts } from './in-parts.ts'

/** The parts on which both halves build, lowest first. A build divides its files there. */
const common = [
  () => import('zod/v4/locales'),
  () => import('zod/v4/core'),
  () => import('zod/v4'),
  () => import('@modelcontextprotocol/core'),
]

/** The loading of the SDK's client. */
export const loadMcpClient: () => Promise<void> = inParts([
  ...common,
  () => import('@modelcontextprotocol/client/validators/ajv'),
  () => import('@modelcontextprotocol/client'),
])

/** The loading of most of the SDK's server. */
export const loadMcpServer: () => Promise<void> = inParts([
  ...common,
  () => import('@modelcontextprotocol/server/validators/ajv'),
])
