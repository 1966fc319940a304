-- Who changed what. Nothing but AUDIT_RETENTION_DAYS removes an entry.
create table audit_entries (
  id          uuid not null default gen_random_uuid(),
  num         bigint generated always as identity primary key,
  at          timestamptz not null default clock_timestamp(),
  actor       text,          -- a login's, a key's or an end user's name; null where nobody has one
  actor_kind  text not null,
  action      text not null,
  kind        text not null, -- of the record
  record_id   text,
  record_name text,
  changes     jsonb not null default '{}',
  ip          text,
  request_id  text
);
create index audit_entries_by_time on audit_entries (at);
