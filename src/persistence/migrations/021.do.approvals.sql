-- Calls that wait for somebody (contract section 15).
alter table agents
  add column approvals jsonb not null default '[]'; -- names of tools, or "*"

alter table messages
  drop constraint messages_finish_reason_check,
  add constraint messages_finish_reason_check check
    (finish_reason in ('stop', 'length', 'content_filter', 'cancelled', 'tool_calls', 'error')) not valid,
  add column shown_calls    jsonb, -- of a reply that waits: the calls in the frame before its finish; null: there is none
  add column continues      uuid,  -- of a reply that decisions started: the one before, which waited
  add column decisions_hash bytea; -- likewise: what was sent, to know a retry by

-- Every call that ever waited, with what became of it.
create table waiting_calls (
  reply_id   uuid not null references messages on delete cascade, -- that asked
  place      integer not null,                                    -- among all calls of that reply, from 1
  session_id uuid not null,                                       -- goes with its reply: a key of its own would need an index
  call_id    text not null, -- as decisions name it
  name       text not null,
  arguments  text not null,
  kind       text not null check (kind in ('approval', 'caller')),
  asked_at   timestamptz not null default clock_timestamp(),
  open       boolean not null default true, -- false: decided, or never will be
  decision   text check (decision in ('approve', 'reject', 'respond')),
  decided_at timestamptz,
  decided_by text,    -- login name or end user; null: nobody named
  decided_in uuid,    -- the reply that the decision started; no foreign key: it may be deleted
  decided_arguments text, -- instead of `arguments`
  output     text,    -- respond
  reason     text,    -- reject
  begun      boolean not null default false, -- approve: it may have taken effect
  ok         boolean, -- approve: null, no result was stored
  content    text,
  duration_ms integer,
  primary key (reply_id, place)
);
create index waiting_calls_open on waiting_calls (session_id) where open;

-- What the next reply of a session that waits needs of the one before: one row for each session that waits.
create table waits (
  session_id uuid primary key references sessions on delete cascade,
  reply_id   uuid not null, -- that waits
  carried    text not null -- JSON as `Carried` in waiting-calls.ts. Not jsonb, which takes no U+0000
);

-- Versions before this one cannot read a reply that ended with tool_calls, and know no approvals. Those that still run are
-- refused messages that concern either (admit_message.sql).
update compatibility set oldest = 21;
