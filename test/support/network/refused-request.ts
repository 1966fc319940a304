/** A 400 of the deploy scope (contract section 13), word for word but for its message. */
import { expect } from 'vitest'

/**
 * Returns a matcher of a refusal. `says`: a part of the message. `param`: the field at fault, or null; any by default.
 */
export const refusedRequest = (says: string | RegExp = '', param: unknown = expect.toSatisfy(isParam)) => ({
  error: {
    message: typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says),
    type: 'invalid_request_error',
    code: 'invalid_request',
    param,
  },
})

const isParam = (value: unknown): boolean => value === null || (typeof value === 'string' && value !== '')
