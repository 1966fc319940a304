/** The names of tools as the model sees them (contract section 6). */

const MAX_LENGTH = 64

/** A name in the form that models accept: other characters (code points) become `_`, at most 64 are kept. */
export const plainName = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/gu, '_').slice(0, MAX_LENGTH)

/** The name of an MCP server's tool, `<server>__<tool>`. */
export const mcpToolName = (server: string, tool: string): string => plainName(`${server}__${tool}`)

/** The name, or the first of `name_2`, `name_3`, … that is not taken, shortened to stay within 64 characters. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? '' : `_${count}`
    const candidate = name.slice(0, MAX_LENGTH - suffix.length) + suffix
    if (!isTaken(candidate)) return candidate
  }
}
