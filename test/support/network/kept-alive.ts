/**
 * The option of servers that tests keep for long: as long as the product's own keeps a connection. By the default of 5 s a
 * machine that stands still sends into a connection that the server has just closed.
 */
export const keptAlive = { keepAliveTimeout: 72_000 }
