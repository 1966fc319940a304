/**
 * `x-documented`: keywords for the document alone. Their rule is kept by a handler, which says in words of its own what is
 * wrong: a pattern's error could only quote the pattern.
 */
export const documentedKeyword = { keyword: 'x-documented', schemaType: 'object' } as const

export const documented = (keywords: Readonly<Record<string, unknown>>) => ({ [documentedKeyword.keyword]: keywords })

/** Of http and https, with a host. */
export const webAddress = documented({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\\\?#]' })
