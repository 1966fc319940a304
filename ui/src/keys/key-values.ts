/** A key as its form has it. */
import type { components } from '../../../openapi/generated/schema.ts'
import { type LimitValues, limitsOfValues, valuesOfLimits } from '../limits/limit-values.ts'

type Key = components['schemas']['Key']
type KeyScope = Key['scopes'][number]
type Role = NonNullable<Key['role']>

export interface KeyValues {
  name: string
  scopes: KeyScope[]
  /** ''; it has none. */
  role: Role | ''
  /** Empty for all agents. */
  agentIds: string[]
  /** Whether `agentIds` counts: a key of agents that were all deleted opens none. */
  isForAll: boolean
  /** A day as `2027-01-31`; '': it does not expire. */
  expiresOn: string
  limits: LimitValues
}

export const valuesOf = (key: Key | null): KeyValues => ({
  name: key?.name ?? '',
  scopes: key?.scopes ?? ['deploy'],
  role: key?.role ?? '',
  agentIds: key?.agentIds ?? [],
  isForAll: (key?.agentIds ?? null) === null,
  expiresOn: key?.expiresAt?.slice(0, 10) ?? '',
  limits: valuesOfLimits(key?.limits ?? null),
})

/** Returns the role to send: one that was chosen before its scope was taken back is none. */
export const roleOfValues = ({ role, scopes }: KeyValues): Role | null =>
  role !== '' && scopes.some((scope) => scope === 'management' || scope === 'management:read') ? role : null

/** Returns the fields to send. An expiry that was not changed in the form keeps its time of day. */
export function fieldsOf({ name, agentIds, isForAll, expiresOn, limits }: KeyValues, before: Key | null) {
  const isSame = before?.expiresAt?.slice(0, 10) === expiresOn
  return {
    name,
    agentIds: isForAll ? null : agentIds,
    expiresAt: expiresOn === '' ? null : isSame ? (before?.expiresAt ?? null) : `${expiresOn}T23:59:59Z`,
    limits: limitsOfValues(limits),
  }
}
