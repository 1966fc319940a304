/** The rules of contract section 35, limits hold and everything counts: a part of requirements.ts. */
export const limits = {
  'contract-35.places-together': 'concurrentReplies holds for messages that are admitted together, on all instances.',
  'contract-35.audit-length':
    'An audit entry shows at most 2,000 characters of any value, with a mark where it is cut.',
  'contract-35.metadata': 'Metadata that a client secret has set counts as missing in prompts and tools.',
  'contract-35.counted':
    'Tools, schemas, instructions, overrides and metadata count among a session’s bytes, on every surface; beyond them is 413.',
  'contract-35.every-call':
    'Every call of a model counts for the caller who caused it, and a summary is judged as a request.',
  'contract-35.past-expiry': 'A key that has expired by its own date is not made.',
  'contract-35.schema-size':
    'A request’s tools and schemas hold at most 1 MiB, one schema 128 KiB and 5,000 properties.',
  'contract-35.user-sessions':
    'A user has at most MAX_USER_SESSIONS sessions with an agent; one more is 429 too_many_sessions, on every path.',
  'contract-35.user-bytes-together':
    'Of requests that come together no more pass than MAX_USER_BYTES has room for, in whatever way they bring bytes.',
  'contract-35.limits-together': 'Of requests that come together on two instances no more pass than each limit says.',
  'contract-35.made-by-secrets':
    'A client secret’s creating and forking of a session counts under requestsPerMinute; a deletion is never refused.',
  'contract-35.live-lists': 'A user follows at most 8 lists that live with an agent, a key 64; one more is 429.',
  'contract-26.live-lists':
    'Followers of lists are served in turns, in pages of 256 KiB, and what they are told of a change is made once.',
  'contract-26.webhook-turns': 'Deliveries of one webhook are claimed in turns by agent and user.',
  'contract-35.never-said': 'A session that never had a message makes no session.deleted event.',
  'contract-32.named-ids':
    'Ids that an input names are looked for among its last 1,000 items, in one statement, and at a bounded cost.',
  'contract-32.kept-once':
    'What a request brings besides its message counts, and is stored and counted once a session for each content.',
  'contract-32.given-calls': 'A given message of the assistant holds at most 1,000 calls.',
} as const
