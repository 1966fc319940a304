/** The initial data of Home, read while its code is still being evaluated (routes.tsx). */
import { agentResource } from '../agents/resource.ts'
import { providerResource } from '../providers/resource.ts'
import { allSessions } from '../sessions/queries.ts'

/** Enough to find one that is not the demo's. */
const some = { limit: 20, offset: 0 }
const RECENT = 5

export const recentSessions = allSessions({ limit: RECENT })
export const someProviders = providerResource.list(some)
export const someAgents = agentResource.list(some)
