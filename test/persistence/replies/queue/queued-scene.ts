/** What a queued message is stored with, where nothing of it matters. */
export const queuedInput = {
  user: null,
  by: null,
  includeUsage: false,
  reasoning: false,
  fields: {},
  includeActions: false,
  instructions: null,
  overrides: null,
  origin: null,
}
