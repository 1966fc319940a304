-- Questions of MCP servers while they carry out a call (contract section 27). They go with their call.
create table waiting_questions (
  reply_id   uuid not null,
  place      integer not null,
  n          integer not null, -- among all questions of the call, from 1
  round      integer not null, -- a server may ask again after it was answered
  server     text not null,    -- its name when it asked
  key        text not null,    -- the server's name for the question
  message    text not null,
  schema     text,             -- JSON text of a form; null: a page is to be visited
  url        text,
  decision   text,
  content    text,             -- JSON text
  decided_at timestamptz,
  decided_by text,
  primary key (reply_id, place, n),
  foreign key (reply_id, place) references waiting_calls on delete cascade
);

-- The server gets back with the answers: its state, encrypted, and a hash of its address.
alter table waiting_calls add column asked_state text;
alter table waiting_calls add column asked_of text;
