/** Rules of section 33: sign-in by OpenID Connect, roles, the audit that goes out. */
export const signIn = {
  'contract-33.audit-feed':
    'Who follows `next` reads each entry of the audit once, in the order of commits, however late a transaction commits.',
} as const
