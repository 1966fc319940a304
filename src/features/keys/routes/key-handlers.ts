/** Keys as a management resource (contract section 23). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Role } from '../../../../openapi/operation.ts'
import { requireAgents, tidyIds } from '../../../http/server/fields/given-agents.ts'
import { readMoment } from '../../../http/server/fields/moment.ts'
import { badRequest, missing } from '../../../http/server/http-error.ts'
import type { Handlers } from '../../../http/server/mount.ts'
import { listAs } from '../../../http/server/paging/list.ts'
import type { AnySql, Sql } from '../../../persistence/postgres/database.ts'
import { recordChange, recordCreation, recordDeletion } from '../../audit/index.ts'
import { givenLimits, useOfKey, withPriceWarning } from '../../limits/index.ts'
import * as keys from '../store/keys.ts'
import type { KeyList } from './key-list.ts'

export interface KeyDependencies {
  sql: Sql
  namedKeys: Pick<KeyList, 'poll'>
  /** Whether the deploy API needs a key at all. */
  deployNeedsKey: boolean
  /** Returns the name of the login that the request came with. Null where no login is required. */
  loginOf(request: FastifyRequest, reply: FastifyReply): Promise<string | null>
}

const OPEN_WARNING =
  'PUBLIC_API_KEY is not set: the deploy API stays open to callers without any key. Set it to make this key needed.'

export const keyHandlers = (deps: KeyDependencies) => {
  const { sql, namedKeys } = deps
  const shown = <Shown extends keys.Key>(from: AnySql, key: Shown) =>
    withPriceWarning(from, key, key.limits, key.agentIds)
  // The change is stored, whatever comes of this reading; the next one is soon.
  const pollNow = () => namedKeys.poll().catch(() => {})
  return {
    listKeys: ({ query }) =>
      listAs('keys', query, async (page) => {
        const { items, total } = await keys.listKeys(sql, page)
        return { items: await Promise.all(items.map((key) => shown(sql, key))), total }
      }),
    createKey: async ({ body: { name, scopes, role = null, agentIds, limits, expiresAt }, request, reply }) => {
      checkRole(role, scopes)
      const given = {
        name,
        scopes: [...new Set(scopes)],
        role,
        agentIds: (agentIds && tidyIds(agentIds)) ?? null,
        limits: givenLimits(limits) ?? null,
        expiresAt: expiresAt == null ? null : futureMoment(readMoment('expiresAt', expiresAt).toISOString()),
        createdBy: await deps.loginOf(request, reply),
      }
      const created = await recordCreation(sql, request, 'key', async (tx) => {
        await checkAgents(tx, given.agentIds)
        // Before the commit: a reading that fails behind it would keep the key from who has made it.
        return await shown(tx, await keys.createKey(tx, given))
      })
      reply.header('cache-control', 'no-store')
      const isOpen = given.scopes.includes('deploy') && !deps.deployNeedsKey
      const { warning, ...key } = created
      const warnings = [isOpen ? OPEN_WARNING : null, warning ?? null].filter((one) => one !== null)
      return { ...key, ...(warnings.length > 0 && { warning: warnings.join(' ') }) }
    },
    getKey: async ({ params }) => await shown(sql, (await keys.findKey(sql, params.id)) ?? missing('key')),
    getKeyUse: async ({ params }) => {
      const key = (await keys.findKey(sql, params.id)) ?? missing('key')
      return await useOfKey(sql, key.id)
    },
    updateKey: async ({ params: { id }, body: { name, agentIds, limits, expiresAt, scopes, role }, request }) => {
      const changes: keys.KeyChanges = {
        name,
        agentIds: agentIds && tidyIds(agentIds),
        limits: givenLimits(limits),
        expiresAt: typeof expiresAt === 'string' ? readMoment('expiresAt', expiresAt).toISOString() : expiresAt,
      }
      const updated = await recordChange(sql, request, 'key', async (tx) => {
        const stored = (await keys.findKey(tx, id)) ?? missing('key')
        if (scopes !== undefined && [...new Set(scopes)].sort().join() !== [...stored.scopes].sort().join())
          badRequest('scopes: cannot be changed; make another key')
        if (role !== undefined && role !== stored.role) badRequest('role: cannot be changed; make another key')
        // Sent back as it was read: what has passed since is not refused.
        if (changes.expiresAt === stored.expiresAt) changes.expiresAt = undefined
        if (changes.expiresAt != null) futureMoment(changes.expiresAt)
        if (changes.agentIds?.join() === stored.agentIds?.join() && stored.agentIds !== null)
          changes.agentIds = undefined
        if (changes.agentIds !== undefined) await checkAgents(tx, changes.agentIds)
        const after = await shown(tx, (await keys.updateKey(tx, id, changes)) ?? missing('key'))
        return { before: stored, after, result: after }
      })
      await pollNow()
      return updated
    },
    deleteKey: async ({ params: { id }, request }) => {
      const deleted = await recordDeletion(sql, request, 'key', {
        find: (tx) => keys.findKey(tx, id),
        remove: (tx) => keys.deleteKey(tx, id),
      })
      if (!deleted) missing('key')
      await pollNow()
    },
  } satisfies Handlers<'keys'>
}

/** Throws 400 for a role that nothing of the key is held to. */
function checkRole(role: Role | null, scopes: readonly keys.KeyScope[]): void {
  if (role !== null && !scopes.some((scope) => scope === 'management' || scope === 'management:read'))
    badRequest('role: needs the scope management or management:read')
}

/** Throws 400 for a key that would have expired by now. */
function futureMoment(expiresAt: string): string {
  return Date.parse(expiresAt) > Date.now() ? expiresAt : badRequest('expiresAt: must be in the future')
}

/** Throws 400. Null stands for all agents. */
async function checkAgents(tx: AnySql, ids: readonly string[] | null): Promise<void> {
  if (ids?.length === 0) badRequest('agentIds: must name an agent; null stands for all')
  await requireAgents(tx, ids)
}
