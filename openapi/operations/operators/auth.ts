import { OPEN_BODY_BYTES, operations } from '../../operation.ts'
import { AuthStatus, CurrentUser, LoggedIn, LoggedOut, LoginRequest } from '../../schemas/operators/running.ts'

export const auth = operations({
  getAuthStatus: {
    method: 'get',
    path: '/api/auth/status',
    scope: 'management',
    open: true,
    summary: 'Read whether a login is required and the caller is logged in',
    responses: { 200: AuthStatus },
  },
  login: {
    method: 'post',
    path: '/api/auth/login',
    scope: 'management',
    open: true,
    summary: 'Log in',
    description: 'Sets the cookie `greenroom_session`, valid for 7 days from its last use, 30 at most.',
    body: LoginRequest,
    maxBodyBytes: OPEN_BODY_BYTES,
    responses: { 200: LoggedIn },
    errors: { 401: 'Wrong name or password.', 429: 'Too many failures; `Retry-After` gives the seconds to wait.' },
  },
  logout: {
    method: 'post',
    path: '/api/auth/logout',
    scope: 'management',
    open: true,
    summary: 'End the login and clear its cookie',
    description: '204; with `logoutUrl` where the identity provider has a page that signs out.',
    maxBodyBytes: OPEN_BODY_BYTES,
    pieces: true,
    responses: { 200: LoggedOut, 204: null },
  },
  getCurrentUser: {
    method: 'get',
    path: '/api/auth/me',
    scope: 'management',
    role: 'viewer',
    summary: 'Read the current user',
    responses: { 200: CurrentUser },
  },
})
