-- Messages that wait for the replies before them. A row becomes a message of the session's path when it begins; it stays
-- until its reply has ended.
create table queued_messages (
  id         uuid primary key, -- the user's message, once it has begun
  num        bigint generated always as identity,
  session_id uuid not null references sessions on delete cascade,
  rank       smallint not null check (rank in (0, 1, 2)), -- 0: interrupts, 1: steers, 2: waits; the lower goes first
  reply_id   uuid not null unique,
  content    text not null,
  message    jsonb not null, -- what admit_message is given of it
  input      text not null,  -- the request, as stored-input.ts writes it. Not jsonb, which takes no U+0000
  created_at timestamptz not null default clock_timestamp(),
  requester_lost boolean not null default false,
  -- Set when it begins: under which instance and epoch, and what admit_message answered.
  instance_id uuid,
  epoch       bigint,
  admission   jsonb,
  taken       boolean not null default false -- its instance has begun to generate the reply
);
create index queued_messages_by_session on queued_messages (session_id, rank, num);
create index queued_messages_by_owner on queued_messages (instance_id, epoch) where admission is not null;

-- How many messages of the session wait: most have none, and nothing more is looked for.
alter table sessions add column queued smallint not null default 0;

-- Whether queued messages begin on this instance: from the end of its start until it drains.
alter table instances add column begins_queued boolean not null default false;
