-- Read-only shares of sessions, by tokens of which the hash alone is stored. They go with their session.
create table shares (
  id         uuid primary key,
  num        bigint generated always as identity,
  session_id uuid not null references sessions on delete cascade,
  hash       bytea not null unique, -- SHA-256 of the token
  live       boolean not null,
  include    text[] not null,       -- tools, reasoning
  lines      integer[],             -- not live: the path when it was made, as lines_to returns it; null: there was no message
  expires_at timestamptz,           -- null: it does not expire
  created_at timestamptz not null
);
create index shares_by_session on shares (session_id, num);

-- Whether client secrets may share the sessions of their user.
alter table agents add column allow_sharing boolean not null default false;
