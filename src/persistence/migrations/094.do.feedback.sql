-- What a session's user, and each person at the playground, think of a reply.
create table feedback (
  message_id uuid not null references messages on delete cascade,
  given_by   text not null check (given_by in ('user', 'login')),
  name       text not null, -- of the user, login or key; empty: it has none
  session_id uuid not null references sessions on delete cascade,
  agent_id   uuid not null, -- with those of the reply, for sums
  model      text not null,
  version    text, -- number, or draft
  score      smallint not null check (score in (-1, 1)),
  comment    text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (message_id, given_by, name)
);
create index feedback_by_session on feedback (session_id, score);
create index feedback_by_time on feedback (created_at);

-- Under which version of its agent a reply was made; null: none is known.
alter table token_usage add column version text;
