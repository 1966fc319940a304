/** The creation of a session: once, when it is needed, under an id that is chosen here. */
import type { Calls } from '../calls.ts'
import { ApiError } from '../errors.ts'
import type { components } from '../schema.ts'

/** Works in pages that were not loaded over HTTPS too, where `randomUUID` is missing. */
export const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns a UUID of version 4. */
const randomId = (): string => {
  const hex = randomKey()
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4)
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)].join(
    '-',
  )
}

/** Makes the session, as often as it takes: under one id, so that 409 on what may be its own repeat means that it is made. */
export function creation(calls: Calls, agentId: string, made: components['schemas']['SessionCreate']) {
  const id = made.id ?? randomId()
  const asked = { params: { path: { agent_id: agentId } }, body: { ...made, id } }
  let maybeMade = false
  return async (options: { signal?: AbortSignal }): Promise<string> => {
    try {
      return (await calls.POST('/api/v1/agents/{agent_id}/deploy/sessions', { ...asked, ...options })).id
    } catch (error) {
      const isRefused = error instanceof ApiError && !error.passes
      if (isRefused && error.status === 409 && maybeMade) return id
      maybeMade ||= !isRefused
      throw error
    }
  }
}

/** Returns the id of a session that is created once, when it is needed. */
export function knownSession(given: string | null, post: (options: { signal?: AbortSignal }) => Promise<string>) {
  let id = given
  let creating: Promise<string> | null = null
  async function create(signal?: AbortSignal): Promise<string> {
    if (id !== null) return id
    const others = creating
    creating ??= post(signal === undefined ? {} : { signal })
    const attempt = creating
    try {
      id = await attempt
      return id
    } catch (error) {
      if (others === null) throw error
    } finally {
      if (creating === attempt) creating = null
    }
    return await create(signal) // the signal of another caller may have ended that attempt
  }
  return {
    known: () => id,
    /** Records the id of a session that its first message created. */
    created(newId: string | null) {
      id = newId ?? id
    },
    create,
  }
}
