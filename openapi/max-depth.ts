/**
 * `x-max-depth`: how deep a value of free form may nest. JSON of any depth can be read, but what later
 * writes, compares or compiles it calls itself for each level, and the stack ends.
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
