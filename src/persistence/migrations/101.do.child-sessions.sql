-- The session, the reply and the call that made a session: {agent_id, session_id, message_id, call_id}. Null: none did.
alter table sessions add column parent jsonb;

-- Sessions that answer a call of another session's reply.
create table children (
  session_id     uuid primary key references sessions on delete cascade,
  num            bigint generated always as identity,
  reply_id       uuid not null, -- its first reply
  parent_session uuid not null,
  parent_reply   uuid not null, -- reply that made the call
  place          integer not null, -- of the call among the calls of that reply, from 1
  top_session    uuid not null,
  top_reply      uuid not null, -- reply to the user's message above all
  depth          integer not null, -- calls from the top
  over           boolean not null default false -- the call has its result, or needs none
);
create index children_by_parent on children (parent_session, num);
create index children_by_reply on children (parent_reply, num);
create index children_by_top on children (top_reply);
create index children_open on children (num) where not over;
