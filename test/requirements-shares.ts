/** The rules of contract section 26, no caller takes what is everybody's: a part of requirements.ts. */
export const shares = {
  'contract-26.cost-of-bytes': 'What a request costs, refused or not, grows with its bytes and never faster.',
  'contract-26.data-urls': 'A body holds at most 200 data: URLs (413).',
  'contract-26.configuration': 'A change of what a reply does not use refuses no message.',
} as const
