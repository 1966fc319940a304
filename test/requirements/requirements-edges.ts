/** The rules of contract section 35, at the edges: a part of requirements.ts. */
export const edges = {
  'contract-35.address-words':
    'In DATABASE_URL sslrootcert and schema are read, words of other drivers are left out with one warning, others that are refused are named.',
  'contract-35.other-tables':
    'A start in a schema with another application’s tables changes nothing and names DATABASE_URL, the table and the remedy.',
  'contract-35.published':
    'Every table has a primary key or a replica identity, so that a publication for all tables changes nothing.',
  'contract-35.few-connections':
    'With few connections requests wait for one, at most 5 s before 503; the pools of an instance leave each other some.',
  'contract-35.late-writes':
    'A statement that is sent again changes nothing when its first try is carried out later, however late.',
  'contract-35.unknown-is-not-no':
    'While the database does not answer at the end of a drain, replies with `continue` are neither failed nor ended.',
  'contract-35.lagging-standby':
    'After a failover to a database that has lost changes, live lists break off and go on from there within 5 s.',
  'contract-35.unsent': 'A write that certainly never reached the server is sent once more on another connection.',
  'contract-35.tool-pages':
    'A list of MCP tools that fails after its first page, or repeats a cursor, is used as far as it came, with a warning.',
} as const
