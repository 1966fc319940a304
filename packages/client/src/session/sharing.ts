/** Shares of a session: read-only, by a token that opens nothing else. */
import type { Calls } from '../calls.ts'
import type { components } from '../schema.ts'

type Schemas = components['schemas']
export type Share = Schemas['Share']
/** A share with its token and the path of its page, which are given once. */
export type CreatedShare = Schemas['CreatedShare']

export interface Sharing {
  /**
   * Shares the session: what it holds now, or with `live` also what follows. `include` adds tool calls and reasoning;
   * `expires_at` is in Unix seconds. Creates the session if it does not exist yet.
   */
  share(how?: Schemas['ShareCreate']): Promise<CreatedShare>
  /** Returns its shares, newest first, without their tokens. */
  shares(): Promise<Share[]>
  /** Revokes a share: its token opens nothing any more. Rejects with `ApiError` 404 where there is none. */
  unshare(shareId: string): Promise<void>
}

export const sharing = (
  calls: Calls,
  agentId: string,
  { known, create }: { known(): string | null; create(): Promise<string> },
): Sharing => {
  const path = '/api/v1/agents/{agent_id}/deploy/sessions/{session_id}/shares'
  const at = (session_id: string) => ({ path: { agent_id: agentId, session_id } })
  return {
    share: async (how = {}) => calls.POST(path, { params: at(await create()), body: how }),
    async shares() {
      const id = known()
      return id === null ? [] : (await calls.GET(path, { params: at(id) })).shares
    },
    async unshare(share_id) {
      const params = { path: { ...at(await create()).path, share_id } }
      await calls.DELETE(`${path}/{share_id}`, { params })
    },
  }
}
