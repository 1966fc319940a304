/** The rules of contract section 35, limits hold and everything counts: a part of requirements.ts. */
export const limits = {
  'contract-35.places-together': 'concurrentReplies holds for messages that are admitted together, on all instances.',
} as const
