-- Files that were uploaded (contract section 32). Their bytes are contents, as those of parts are, each file's under a key of
-- its own; messages that use a file name that key, and keep the bytes when the file is gone.
create table files (
  id         uuid primary key,
  num        bigint generated always as identity, -- the order of lists
  agent_id   uuid references agents on delete cascade, -- null: of no agent
  end_user   text, -- null: nobody's
  filename   text not null,
  purpose    text not null,
  media_type text not null,
  size       integer not null,
  sha256     bytea not null, -- of the bytes
  stored_as  bytea not null references part_contents,
  created_at timestamptz not null default clock_timestamp(),
  used_at    timestamptz not null default clock_timestamp(), -- uploaded, or named by a message
  expires_at timestamptz
);
create index files_by_owner on files (agent_id, end_user, num);
create index files_by_content on files (stored_as);
create index files_by_expiry on files (expires_at) where expires_at is not null;
