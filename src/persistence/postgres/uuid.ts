const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Returns whether an id from a caller can be compared with a uuid column: a malformed id would be an error, not a miss.
 */
export const isUuid = (id: string): boolean => uuid.test(id)
