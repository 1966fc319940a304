/** Rules of section 31: finding, archiving, sharing. */
export const finding = {
  'contract-31.archived':
    'A change alone sets `archived`, updated_at stays; lists contain every session and take archived=true or false.',
} as const
