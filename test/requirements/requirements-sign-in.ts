/** Rules of section 33: sign-in by OpenID Connect, roles, the audit that goes out. */
export const signIn = {
  'contract-33.audit-feed':
    'Who follows `next` reads each entry of the audit once, in the order of commits, however late a transaction commits.',
  'contract-33.flow':
    'A person signs in by the authorization code flow with PKCE, state and nonce; any instance serves the callback; tokens are sealed.',
  'contract-33.hidden': 'No log line, trace or answer holds a code, a state, a verifier or a token of a sign-in.',
  'contract-33.refused':
    'A sign-in that is not good in every part makes no session: 400, 403, 502, and 429 after thirty of an address.',
  'contract-33.claims': 'Name and role come from the ID token, else from userinfo; the highest role counts.',
  'contract-33.look':
    'The issuer confirms a session after OIDC_RECHECK_S, once for all; what it no longer confirms is over, while it is away the last role stands.',
  'contract-33.logout': 'A logout deletes session and tokens, and says where the issuer signs out.',
  'contract-33.settings':
    'A setting of the sign-in that is missing, does not parse, or stands without OIDC_ISSUER stops the start and is named.',
  'contract-33.session': 'A session is over when issuer, client or roles of the settings change.',
  'contract-33.roles':
    'Every operation of management names its least role, and a lower one is 403 before anything is read or changed.',
  'contract-33.key-roles': 'A role narrows what a key opens; audit:read opens the audit alone.',
  'contract-33.reads': 'A person who reads the content of a session with a user leaves an entry, once an hour.',
  'contract-33.pages':
    'The pages offer the sign-ins, return to the page that was asked for, and say which role a page or a control needs.',
} as const
