-- Conversations below /api/v1/openai that no agent has yet: the first response in one makes it a session of its agent.
create table unclaimed_conversations (
  id         uuid primary key,
  metadata   jsonb not null,
  messages   text not null, -- JSON, as a session is given them, each with its id
  agent_id   uuid, -- whose session it becomes; null: no response was asked for yet
  created_at timestamptz not null default clock_timestamp()
);
create index unclaimed_conversations_by_time on unclaimed_conversations (created_at);
