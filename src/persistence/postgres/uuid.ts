const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Asked before an id from a caller meets a uuid column, where another form would be an error instead of a miss. */
export const isUuid = (id: string): boolean => uuid.test(id)
