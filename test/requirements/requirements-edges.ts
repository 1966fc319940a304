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
  'contract-35.tool-pages':
    'A list of MCP tools that fails after its first page, or repeats a cursor, is used as far as it came, with a warning.',
} as const
