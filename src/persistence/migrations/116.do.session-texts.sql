-- What requests bring besides their messages (tools, formats, instructions, metadata), as JSON: once a session, by its SHA-256.
-- A reply's facts name it (facts.kept).
create table session_texts (
  session_id uuid not null references sessions on delete cascade,
  hash       bytea not null,
  content    jsonb not null,
  bytes      integer not null, -- that it counts among the session's
  primary key (session_id, hash)
);
