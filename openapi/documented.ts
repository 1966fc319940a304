/**
 * `x-documented`: keywords for the document alone. A handler enforces their rule and gives a readable message: a
 * pattern's error could only quote the pattern.
 */
export const documentedKeyword = { keyword: 'x-documented', schemaType: 'object' } as const

export const documented = (keywords: Readonly<Record<string, unknown>>) => ({ [documentedKeyword.keyword]: keywords })

/** An http or https URL with a host. */
export const webAddress = documented({
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\\\?#]',
  examples: ['https://example.com/'],
})
