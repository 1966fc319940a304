import type { components } from '../../../openapi/generated/schema.ts'

export type Given = NonNullable<components['schemas']['PlaygroundMessage']['feedback']>[number]

/** Returns whether the person at the playground gave it. */
export const isOwn = ({ by, name }: Given, user: { username: string | null } | null | undefined): boolean =>
  by === 'login' && name === (user?.username ?? null)
