/**
 * `x-read-only`: fields that a record has when it is read, and that are taken here without being looked at, so that a record
 * may be sent back as it was read.
 */
export const readOnlyKeyword = { keyword: 'x-read-only', schemaType: 'array' } as const

export const readOnly = (...names: string[]) => ({ [readOnlyKeyword.keyword]: names })
