-- Stored questions that are asked again under another version of their agent.
create table replays (
  id          uuid primary key default gen_random_uuid(),
  num         bigint generated always as identity,
  agent_id    uuid not null references agents on delete cascade,
  version     text not null, -- number, or draft
  held        json not null, -- what the version holds, see agent_snapshot: a draft as it was
  status      text not null default 'running' check (status in ('running', 'complete', 'cancelled')),
  concurrency integer not null,
  created_at  timestamptz not null default clock_timestamp(),
  created_by  text,
  ended_at    timestamptz
);
create unique index replays_running on replays (agent_id) where status = 'running';
create index replays_by_agent on replays (agent_id, num);

create table replay_cases (
  replay_id   uuid not null references replays on delete cascade,
  message_id  uuid not null references messages on delete cascade,
  session_id  uuid not null references sessions on delete cascade,
  place       integer not null, -- in the order of the request
  status      text not null default 'pending'
              check (status in ('pending', 'running', 'complete', 'diverged', 'error', 'cancelled')),
  instance_id uuid, -- which runs it
  epoch       bigint,
  losses      integer not null default 0, -- of instances that ran it
  question    text not null,
  old         json,
  new         json,
  divergence  json,
  error       json,
  verdict     text check (verdict in ('better', 'same', 'worse')),
  comment     text,
  primary key (replay_id, message_id)
);
create index replay_cases_by_message on replay_cases (message_id);
create index replay_cases_by_session on replay_cases (session_id);
create index replay_cases_open on replay_cases (replay_id) where status in ('pending', 'running');

-- How many of the replies were those of replays.
alter table token_usage add column replays integer not null default 0;
