/** The name and the role that an issuer gives a person (contract section 33). */
import { type Role, roles, suffices } from '../../../openapi/operation.ts'

/** A reading of `OIDC_ROLES`: the claim that decides, and the roles of its values. `*` stands for everybody. */
export interface RoleRules {
  claim: string
  values: readonly { value: string; role: Role }[]
}

export type Claims = Readonly<Record<string, unknown>>

const EVERYBODY = '*'
const MOST_NAME = 200

/** Reads `<claim>: <value>=<role>, …`. Throws an Error with the reason. */
export function readRoleRules(text: string): RoleRules {
  const end = text.search(/:\s/)
  if (end < 1) throw new Error('is not of the form <claim>: <value>=<role>, …')
  const values = text
    .slice(end + 1)
    .split(',')
    .map((entry) => {
      const at = entry.lastIndexOf('=')
      const [value, name] = [entry.slice(0, at).trim(), entry.slice(at + 1).trim()]
      const role = roles.find((one) => one === name)
      if (at < 0 || value === '') throw new Error(`${JSON.stringify(entry.trim())} is not <value>=<role>`)
      if (role === undefined) throw new Error(`${JSON.stringify(name)} is none of ${roles.toReversed().join(', ')}`)
      return { value, role }
    })
  return { claim: text.slice(0, end).trim(), values }
}

/** Returns the highest role that the claims give. Null when they give none. */
export function roleOf({ claim, values }: RoleRules, claims: Claims): Role | null {
  const held = claims[claim]
  const texts: readonly unknown[] = Array.isArray(held) ? held : [held]
  const given = values.filter(({ value }) => value === EVERYBODY || texts.includes(value)).map(({ role }) => role)
  return given.reduce<Role | null>((best, role) => (best !== null && suffices(best, role) ? best : role), null)
}

/** Returns the name of the person, which is shown only: at most 200 characters. */
export function nameOf(claims: Claims): string {
  const named = [claims.preferred_username, claims.email, claims.sub].find(
    (one): one is string => typeof one === 'string' && one !== '',
  )
  return [...(named ?? '')].slice(0, MOST_NAME).join('').toWellFormed().replaceAll('\0', '\uFFFD')
}
