/** The rules of contract section 23, keys and audit: a part of requirements.ts. */
export const keys = {
  'contract-23.keys':
    'Keys are a resource; the key itself is in the answer to its creation alone, only its hash is stored.',
  'contract-23.deploy': 'A deploy key opens its agents alone; others are 401, and another model is 404.',
  'contract-23.management':
    'A management key stands for a login, one that may read for its GETs alone; neither opens keys.',
  'contract-23.scopes': 'No key does on any route what its scope does not say.',
  'contract-23.revocation':
    'Deletion and expiry take effect on every instance within 2 s, and end open streams and client secrets.',
  'contract-23.last-used': 'lastUsedAt is true to a minute.',
  'contract-23.command': 'greenroom key create makes a key of a running server.',
  'contract-23.limits': 'A key’s limits and an agent’s userLimits are set, cleared, exported and imported, never keys.',
  'contract-23.limits-exact': 'Of simultaneous requests on all instances no more pass than the limit says.',
  'contract-23.limits-every-surface': 'Every request that begins a reply counts; the playground is not limited.',
  'contract-23.limits-order': 'Joins and busy sessions come before limits; what is refused counts nothing.',
  'contract-23.limits-answers': '429 says when to try again; answers under a minute’s limit say what is left of it.',
  'contract-23.limits-form': 'A 429 is `{error: string}` below deploy, and has OpenAI’s object on the Responses API.',
  'contract-23.limits-use':
    'Tokens and cost count by day and month, UTC, with the settlement; client secrets count for their key.',
  'contract-23.limits-places': 'A place is free once its reply has ended, or its instance is lost.',
  'contract-23.limits-cost': 'A request under no limit costs no statement more, one under limits one at its admission.',
  'contract-23.audit':
    'Every change of a management record leaves an entry in its transaction: who, what, each field before and after.',
} as const
