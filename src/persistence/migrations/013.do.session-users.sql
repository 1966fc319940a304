-- Whose conversation a session is, and what its caller notes about it (contract section 11). `user` is a word of SQL's own.
-- Both have constant defaults: no row is rewritten, and older versions insert without them. The index that finds a user's
-- sessions stands in ../indexes, since a large table gets it without a lock.
alter table sessions
  add column end_user text,
  add column metadata jsonb not null default '{}';
