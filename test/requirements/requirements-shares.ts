/** The rules of contract section 26, no caller takes what is everybody's: a part of requirements.ts. */
export const shares = {
  'contract-26.cost-of-bytes': 'What a request costs, refused or not, grows with its bytes and never faster.',
  'contract-26.data-urls': 'A body holds at most 200 data: URLs (413).',
  'contract-26.configuration': 'A change of what a reply does not use refuses no message.',
  'contract-26.made-again':
    'A session made again under the id of a deleted one is another: streams of the first end with session_deleted.',
  'contract-26.statement-timeout': 'Coordination does not depend on a role’s statement_timeout.',
  'contract-26.versions': 'An instance that compatibility no longer allows drains by itself.',
  'contract-26.older-versions':
    'Each version that compatibility allows finds its tables and columns in a newer database, and may write its rows.',
  'contract-26.migration-locks': 'A migration waits for no lock longer than 5 s at a time.',
  'contract-26.unread': 'Any answer whose reader takes nothing for 60 s is closed.',
  'contract-26.masked-log': 'The log masks key-like strings in what providers and tools say.',
  'contract-26.two-hosts': 'Two Host headers: 400.',
  'contract-26.picture-addresses': 'Refused picture addresses are one sentence, whatever they resolve to.',
  'contract-26.refused-bodies': 'A refused body is read on for a while, so that its client reads the answer.',
  'contract-26.shares':
    'What requests hold counts as it arrives, in shares, of which one holder has an eighth of the deploy API’s at most.',
  'contract-26.open-arrival': 'A body of a route without credential has 10 s to arrive.',
  'contract-26.stored-bytes': 'A message or fork beyond MAX_SESSION_BYTES or MAX_USER_BYTES is 413, nothing stored.',
  'contract-26.contents-apart': 'Stored contents are shared among the messages of one user of one agent only.',
  'contract-26.long-lists':
    'Lists of messages and exports are written in pieces of at most 1 MiB, as fast as they are read; without limit 32 MiB at most.',
  'contract-26.log-written':
    'A log that cannot be written stops nothing; what was left out is counted and said when it can be written again.',
  'contract-26.database-words': 'A database in trouble is named for what it is, and seldom.',
  'contract-26.timeline':
    'Before it answers from a connection made before the newest loss, an instance has asked that server whether it takes writes.',
  'contract-26.turns': 'Statements and connections wait for their turn while others are answered.',
  'contract-26.empty-polls': 'What a look for news of a running reply costs does not grow with the reply.',
  'contract-26.shown-paths': 'Logs and traces keep no name of a user.',
  'contract-26.restored-secrets': 'After a restore a revocation covers the secrets made after the backup.',
  'contract-26.move': 'move and backup take DATABASE_URL or standard input besides an argument.',
} as const
