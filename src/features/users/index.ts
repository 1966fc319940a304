/** The door of users: all that the wires, the rest of http and other features use of it. */
export { type AuthenticationDependencies, createAuthentication } from './access/authentication.ts'
export {
  agentsOf,
  type Caller,
  callerName,
  callerOf,
  type DeployExtra,
  type DeployHandlers,
  keyIdOf,
  opens,
  opensAgent,
  opensId,
  pathParam,
  requirePermission,
  userOf,
} from './access/caller.ts'
export { callerLimits } from './access/caller-limits.ts'
export { allowOrigin, answerPreflight, isPreflight, listedOrigin, refuseForeignPage } from './access/origins.ts'
export { ownSession } from './access/own-session.ts'
export { createPreflightRefusal } from './access/refused-preflights.ts'
export type { RevocationList } from './access/revocations.ts'
export { refuseUsedMetadata, type UsedMetadataDependencies } from './access/used-metadata.ts'
export { refuseBrokenUser } from './access/user-param.ts'
export { loginAddress } from './login/login-address.ts'
export type { LoginSessions, Person } from './login/login-session.ts'
export { watchPerson } from './login/watch-person.ts'
export { beginAttempt, forgiveAttempt } from './store/logins.ts'
