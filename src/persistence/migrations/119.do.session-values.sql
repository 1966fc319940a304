-- The metadata of sessions as it counted before a change: replays ask with the values of a reply's admission. A row for each
-- change, where a reply was admitted since the one before.
create table session_values (
  session_id uuid not null references sessions on delete cascade,
  until      timestamptz not null, -- of the change
  metadata   jsonb not null,
  primary key (session_id, until)
);

create function keep_session_values() returns trigger language plpgsql as $$
begin
  insert into session_values (session_id, until, metadata)
  select old.id, clock_timestamp(), old.metadata - old.uncounted
   where exists (
     select from messages m
      where m.session_id = old.id and m.first_seq is not null
        and m.created_at >= coalesce((select max(v.until) from session_values v where v.session_id = old.id), '-infinity'));
  return null;
end $$;

create trigger keep_session_values after update of metadata, uncounted on sessions for each row
  when (old.metadata - old.uncounted is distinct from new.metadata - new.uncounted) execute function keep_session_values();
