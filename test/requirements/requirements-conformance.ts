/** The rules of contract section 34, a conformance suite that anyone can run: a part of requirements.ts. */
export const conformance = {
  'contract-34.finds':
    'The suite finds each fault by the check that is named for it, and by none that has nothing to do with it.',
  'contract-34.break-it':
    '`/break-it` and what was below it are as any unknown path: 404, to a browser the pages’ own.',
} as const
