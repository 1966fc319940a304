-- A session's status is its newest reply's, kept where lists of all sessions find it (contract section 16). Null: the
-- session is older than this migration and has had no message since; a background job fills it in (session-status.ts).
-- The default comes second, so that no row is rewritten: sessions made from now on are idle, by older versions too.
-- Admission and settlement set both, in functions that older versions call as well.
alter table sessions
  add column status text,
  add column error_code text; -- the newest reply's, when it failed
alter table sessions alter column status set default 'idle';
