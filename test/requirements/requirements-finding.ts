/** Rules of section 31: finding, archiving, sharing. */
export const finding = {
  'contract-31.archived':
    'A change alone sets `archived`, updated_at stays; lists contain every session and take archived=true or false.',
  'contract-31.shares':
    'A share is made, listed without its token and revoked, with an entry in the audit; bad values are 400.',
  'contract-31.share-shows':
    'A share shows the path of its creation, a live one that of the reading; nothing of user, metadata, usage, errors or settings.',
  'contract-31.share-opens':
    'A token reads one session: every other method and path is 403, 404 or 401, and changes nothing.',
  'contract-31.share-secrets':
    'A client secret shares where allowSharing is true, its own sessions alone; revoking the user ends the shares.',
  'contract-31.share-management': 'Management makes, lists and revokes shares below the playground.',
  'contract-31.share-streams':
    'A live share follows replies without what it does not show; its streams end with it, replies run on.',
  'contract-31.share-page':
    'The page of shares needs no login, loads its own files alone and shows what the token opens.',
  'contract-31.search-pages':
    'The console searches messages with marks and jumps, archives sessions, and makes and revokes shares.',
  'contract-31.search-words':
    'Words by their beginning, phrases and runs are found in one message; case, accents and forms make no difference.',
  'contract-31.search-refusals':
    'Another q, limit or cursor is 400, other methods 405; a secret searches its user, a share nothing; what is deleted is not found.',
  'contract-31.search-order': 'The newest match decides the order; pages repeat and omit nothing; snippets are marked.',
  'contract-31.search-management':
    'Management searches messages over all agents with the filters of its list, and counts up to 1,000 sessions.',
  'contract-31.search-time':
    'A search reads for 2 s and waits 2 s at most, then it is 503; others than searches are not held up.',
  'contract-31.search-soon': 'Messages and replies are made searchable in the background once they are stored.',
} as const
