/** The bearer token of a request. Both scopes read it: a client secret opens no management route. */
import type { FastifyRequest } from 'fastify'

export const SECRET_PREFIX = 'ek_'

/** Returns the bearer token. Null if there is none. */
export const bearerOf = ({ headers }: FastifyRequest): string | null =>
  /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1]?.trim() ?? null

/** Returns whether a text has the form of a client secret, valid or not. */
export const isClientSecret = (text: string): boolean => text.toLowerCase().startsWith(SECRET_PREFIX)
