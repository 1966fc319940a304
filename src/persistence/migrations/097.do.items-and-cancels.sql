-- Messages may be given to a session behind its replies (contract section 32): the next message comes behind them.
alter table sessions add column given_at integer; -- position of the last one; null: none was given so

-- Responses that were cancelled while their message was in the queue, for 24 hours. Nothing of them is in the conversation.
create table dequeued_responses (
  reply_id    uuid primary key,
  session_id  uuid not null references sessions on delete cascade,
  previous_id uuid,  -- the reply that the message was to follow; null: none was named
  asked_at    timestamptz not null,
  model       text not null,
  request     jsonb, -- as messages.facts -> 'response'; null: another API sent the message
  at          timestamptz not null default clock_timestamp()
);
create index dequeued_responses_by_session on dequeued_responses (session_id);
create index dequeued_responses_by_time on dequeued_responses (at);
