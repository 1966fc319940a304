-- Roles of keys, sign-ins by OpenID Connect, and who has read which session.

-- The scopes of a key with a role stand apart: the version before this one knows no roles and opens nothing to it.
alter table keys add column role text;
alter table keys add column role_scopes text[];

alter table logins add column method text not null default 'password';

create table oidc_logins (
  id            uuid primary key default gen_random_uuid(),
  token_hash    bytea not null unique references logins on delete cascade,
  subject       text not null,
  role          text not null,
  id_token      text not null,                                     -- sealed
  refresh_token text,                                              -- sealed; null: the issuer gave none
  looked_at     timestamptz not null default clock_timestamp(),    -- when the issuer last confirmed it
  next_look     timestamptz,                                       -- null: the issuer is not asked
  ends_at       timestamptz                                        -- null: it has no end of its own
);

-- One row for each person, session and hour of the UTC clock.
create table session_reads (
  reader     text not null,
  session_id uuid not null,
  hour       timestamptz not null,
  primary key (reader, session_id, hour)
);
create index session_reads_by_hour on session_reads (hour);
create index audit_entries_of_reads on audit_entries (record_id) where action = 'read';
