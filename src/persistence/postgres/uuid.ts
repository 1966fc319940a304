const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Checks an id of a caller before it is compared with a uuid column: a malformed id would be an error, not a miss. */
export const isUuid = (id: string): boolean => uuid.test(id)
