/**
 * `x-max-depth`: how deep a free-form value may nest. JSON of any depth can be parsed, but serializing, comparing or
 * compiling it later is recursive and would overflow the stack.
 */
export const maxDepthKeyword = {
  keyword: 'x-max-depth',
  schemaType: 'number',
  error: { message: 'must not be nested so deeply' },
  validate: (limit: number, value: unknown): boolean => {
    let level: unknown[] = [value]
    for (let depth = 0; level.length > 0; depth++) {
      if (depth > limit) return false
      level = level.flatMap((item) => (item !== null && typeof item === 'object' ? Object.values(item) : []))
    }
    return true
  },
} as const
