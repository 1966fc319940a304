/** Names of tools as models see them. */

export const plainName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, 64)

export const mcpToolName = (server: string, tool: string): string => plainName(`${server}__${tool}`)
