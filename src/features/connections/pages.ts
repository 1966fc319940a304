/** The addresses of pages on which users begin to sign in. Each ends in a token that only we can make. */
import Type from 'typebox'
import { placeOfCall } from '../../actors/reply/call-key.ts'
import type { Secrets } from '../../persistence/records/access/secrets.ts'
import { signInPageContext } from '../../persistence/records/access/secrets.ts'
import { decoder } from '../../persistence/stored-json.ts'
import type { SignInPlace } from './store/sign-ins.ts'

export const START = '/api/oauth/start'

const read = decoder(
  'The token of a sign-in',
  Type.Object({ session: Type.String(), user: Type.String(), server: Type.String(), call: Type.String() }),
)

/** The call for which a user signs in. Its key names its reply, and its place there. */
interface SignInOf {
  sessionId: string
  user: string
  serverId: string
  call: string
}

/** Returns the address of the page for a call. */
export function pageFor(
  secrets: Pick<Secrets, 'seal'>,
  publicUrl: string,
  { sessionId, user, serverId, call }: SignInOf,
): string {
  const token = JSON.stringify({ session: sessionId, user, server: serverId, call })
  return `${publicUrl}${START}/${secrets.seal(token, signInPageContext)}`
}

/** Returns the call of a token. Null for one that is not ours. */
export function callOf(secrets: Pick<Secrets, 'open'>, token: string): SignInPlace | null {
  try {
    const {
      session: sessionId,
      user,
      server: serverId,
      call,
    } = read(JSON.parse(secrets.open(token, signInPageContext)))
    return { sessionId, user, serverId, ...placeOfCall(call) }
  } catch {
    return null
  }
}
