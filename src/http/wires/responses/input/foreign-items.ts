/** Items of tools that servers of OpenAI's ran (contract section 32): they are passed over. */

/** Types whose outputs, if there are any, are items of their own: the type with `_output`. */
const ran = [
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'computer_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
]

const passedOver = new Set([
  ...ran.flatMap((type) => [type, `${type}_output`]),
  'mcp_list_tools',
  'mcp_call',
  'tool_search_call',
  'tool_search_output',
])

export const isForeign = (type: unknown): type is string => typeof type === 'string' && passedOver.has(type)

/** Returns the types among the items that are passed over, as fields under the names that the header shows. */
export function foreignIn(items: unknown, field = 'input'): Record<string, true> {
  const types = Array.isArray(items) ? items.flatMap((item: unknown) => typeOf(item)) : []
  return Object.fromEntries(types.filter(isForeign).map((type) => [`${field}.${type}`, true]))
}

const typeOf = (item: unknown): unknown[] =>
  typeof item === 'object' && item !== null && 'type' in item ? [item.type] : []
