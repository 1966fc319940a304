/** The rules of contract section 20, the user reaches tools and prompts: a part of requirements.ts. */
export const values = {
  'contract-20.unknown-fields': 'A field that a management body does not have is 400 that names it and what was meant.',
  'contract-20.as-read': 'A record may be sent back as it was read: its read-only fields are taken and not looked at.',
  'contract-20.import': 'An import refuses unknown fields with the record’s name, and takes records as they are read.',
} as const
