/** The bearer token of a request. Both scopes look at it: a client secret opens nothing of management's. */
import type { FastifyRequest } from 'fastify'

export const SECRET_PREFIX = 'ek_'

/** Returns null when there is none. */
export const bearerOf = ({ headers }: FastifyRequest): string | null =>
  /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1]?.trim() ?? null

/** Returns whether the text is written as the token of a share, be it good or not. */
export const isShareToken = (text: string): boolean => text.startsWith('sh_')

/** Returns whether the text is written as a client secret, be it good or not. */
export const isClientSecret = (text: string): boolean => text.toLowerCase().startsWith(SECRET_PREFIX)
