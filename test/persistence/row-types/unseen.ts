/** What the comparison of rows does not see, or what is right all the same, by name. These lists may only shrink. */

/** Statements whose text no reader of the source finds out: the columns of any table, and of one table after the other. */
export const notFollowed = [
  'candidates.ts candidatesAmong',
  'candidates.ts hasFewSessions',
  'dump.ts sumOf',
  'secrets.ts resealAll',
]

/** Differences that are none. */
export const accepted = [
  // Its condition leaves null out.
  // Made under a pool of any caller, which may read a bigint as either.
  'lease.ts take: epoch is number, in the type string or number',
  'lost-instances.ts readLeases: lease is number, in the type string or number',
  // Run for what it does.
  'files.ts deleteFile: forget_parts is a column, and not in the type',
  'sessions.ts deleteBatch: count is a column, and not in the type',
  // Null only in messages that are no reply of the session's own, which these statements leave out or are not asked for.
  ...['session_num', 'first_seq', 'model', 'include_usage', 'instance_id', 'epoch'].flatMap((column) => [
    `read-reply.ts readReply: ${column} may be null, and not in the type`,
    `claims.ts readReplies: ${column} may be null, and not in the type`,
    `orphans.ts streamingReplies: ${column} may be null, and not in the type`,
  ]),
  // Columns of a view: PostgreSQL does not know that they are never null.
  ...['seq', 'from', 'to', 'event', 'kind', 'instanceId'].flatMap((column) =>
    ['listTransitions, items', 'transitionsAfter'].map(
      (reader) => `transitions.ts ${reader}: ${column} may be null, and not in the type`,
    ),
  ),
  ...['readTraffic: from', 'readTraffic: to', 'readTraffic: event', 'readTraffic 2: id'].map(
    (column) => `transitions.ts ${column} may be null, and not in the type`,
  ),
  // A message that has begun is a reply of the session's own, and waits with its input.
  'queue.ts createQueueStore: include_usage may be null, and not in the type',
  'queue.ts createQueueStore: model may be null, and not in the type',
  'lost-owners.ts settleLost: instanceId may be null, and not in the type',
  'lost-owners.ts settleLost: epoch may be null, and not in the type',
  'claims.ts claimAll: from may be null, and not in the type',
  'claims.ts claimAll: epoch may be null, and not in the type',
  // Inserted from what is never null, or found by a comparison that a null fails.
  'intents.ts requestCancel: replyId may be null, and not in the type',
  'server-settings.ts readSwitchedOff: name may be null, and not in the type',
  // Where a condition leaves out those without.
  'secrets.ts resealStates: url may be null, and not in the type',
  'secrets.ts resealStates 2: sealed may be null, and not in the type',
]

/** Columns of JSON, of whose fields PostgreSQL knows nothing. (The fields of the lists called `items` are compared.) */
export const insideJson = [
  'answer',
  'answers',
  'counts',
  'countsFor',
  'decided',
  'decisions',
  'divergence',
  'durationMs',
  'error',
  'extras',
  'failure',
  'fallbacks',
  'feedback',
  'firstTokenMs',
  'follows',
  'forkedFrom',
  'frames',
  'frames_or_ends',
  'generationConfig',
  'headers',
  'held',
  'limits',
  'mcpServers',
  'metadata',
  'names',
  'new',
  'old',
  'outputs',
  'parent',
  'parts',
  'pending',
  'prompt',
  'prompts',
  'provider',
  'providers',
  'queued',
  'request',
  'revoked',
  'session',
  'steps',
  'stored',
  'usage',
  'userLimits',
  'value',
  'waited',
]
