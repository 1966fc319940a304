-- Calls are decided one by one: a call that is open and has a decision waits for those beside it. The kinds and the decisions
-- are those of waiting_calls as reply-event.ts names them.
alter table waiting_calls drop constraint waiting_calls_kind_check;
alter table waiting_calls drop constraint waiting_calls_decision_check;

-- The request's choices, for replies that follow without one: whether the request that asked had its calls and its reasoning shown.
-- Null: an older version asked.
alter table waits add column asked jsonb;

-- Requests that decided a part of what was pending: each is known when it is sent again.
create table partial_decisions (
  id         uuid primary key, -- that its reply would have had
  session_id uuid not null references sessions on delete cascade,
  hash       bytea not null,   -- of the decisions
  at         timestamptz not null default clock_timestamp()
);
create index partial_decisions_by_session on partial_decisions (session_id);

-- -1: the reply that follows decisions which no request waits for.
alter table queued_messages drop constraint queued_messages_rank_check;
