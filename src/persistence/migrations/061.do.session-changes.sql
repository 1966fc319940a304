-- Which sessions have changed, in order, for those who follow a list of them. A number is taken while the lock of the
-- writing statement is held, so that a reader knows from pg_locks which numbers may still be written (session_horizon).
create sequence session_changes;
alter table sessions add column change bigint; -- of its newest change; null: it has not changed since this column is there
alter table sessions alter column change set default nextval('session_changes');
create index sessions_by_change on sessions (change, agent_id) where change is not null;

create function number_session_change() returns trigger language plpgsql as $$
begin
  new.change := nextval('session_changes');
  return new;
end $$;
create trigger number_session_change before update on sessions for each row
  when (old.updated_at is distinct from new.updated_at or old.status is distinct from new.status
        or old.title is distinct from new.title or old.head is distinct from new.head
        or old.metadata is distinct from new.metadata)
  execute function number_session_change();

-- Sessions that are gone, for 30 days.
create table session_deletions (
  change     bigint primary key default nextval('session_changes'),
  session_id uuid not null,
  agent_id   uuid not null,
  user_hash  bytea, -- SHA-256 of whose it was: the name itself goes with the session; null: it was nobody's
  at         timestamptz not null default clock_timestamp()
);
create index session_deletions_by_time on session_deletions (at);

create function note_session_deletions() returns trigger language plpgsql as $$
begin
  insert into session_deletions (session_id, agent_id, user_hash)
  select g.id, g.agent_id, sha256(convert_to(g.end_user, 'UTF8')) from gone g;
  return null;
end $$;
create trigger note_session_deletions after delete on sessions referencing old table as gone
  for each statement execute function note_session_deletions();
