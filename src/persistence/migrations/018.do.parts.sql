-- Pictures and files of messages. Their bytes are stored once a content, in pieces, apart from the messages that refer to
-- them, and go with the last of these. Older versions run beside: they read the text of such a message alone.
create table part_contents (
  sha256 bytea primary key,
  size   integer not null -- of all its pieces, in bytes
);

create table part_pieces (
  sha256 bytea not null references part_contents on delete cascade,
  n      integer not null, -- 0, 1, 2, …
  bytes  bytea not null,
  primary key (sha256, n)
);
alter table part_pieces alter column bytes set storage external; -- pictures do not get smaller

-- A request that is about to refer to a content keeps it until its message is stored, or refused.
create table part_uploads (
  id     uuid not null, -- of the request
  sha256 bytea not null references part_contents,
  at     timestamptz not null default clock_timestamp(),
  primary key (id, sha256)
);
create index part_uploads_by_content on part_uploads (sha256);

create table message_parts (
  session_id uuid not null references sessions on delete cascade,
  message_id uuid not null,
  n          smallint not null, -- 0, 1, 2, …: the order in which they were sent
  type       text not null,     -- image_url, file
  sha256     bytea not null references part_contents,
  media_type text not null,
  filename   text,
  size       integer not null,
  detail     text,              -- as image_url has it
  source_url text,              -- where it was fetched from; null: its bytes were sent
  text_place integer not null,  -- how much of the message's text stands before it, in UTF-16 code units
  primary key (message_id, n)
);
create index message_parts_by_session on message_parts (session_id);
create index message_parts_by_content on message_parts (sha256);
