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
  'contract-23.audit':
    'Every change of a management record leaves an entry in its transaction: who, what, each field before and after.',
} as const
