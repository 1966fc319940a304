-- What a reply's steps cost: one of their three indexes was a twentieth of the WAL that a short reply writes, and a tenth of
-- PostgreSQL's time for it went into the look at the session that a foreign key makes for each row.

-- In the order in which a deletion takes them: one that is under way ends first.
lock table sessions, transitions, model_requests in access exclusive mode;

-- Nobody looks for a step by its number alone: transitions_by_session has it behind the session. Where a publication for
-- logical replication takes the table along, a row without a key is named by all its columns.
alter table transitions
  drop constraint transitions_pkey,
  replica identity full;

-- Who stores steps and requests locks their sessions itself, and leaves out those that are gone (transitions.ts). What
-- sessions leave behind when they are deleted goes by a trigger. It needs its function; what that does stands in
-- replies/sql, and is put in its place right after this file.
create function forget_steps() returns trigger language plpgsql as $$ begin return null; end $$;
alter table transitions drop constraint transitions_session_id_fkey;
alter table model_requests drop constraint model_requests_session_id_fkey;
create trigger forget_steps after delete on sessions referencing old table as gone
  for each statement execute function forget_steps();
