-- Whether older turns are summarised where a history no longer fits (contract section 19). Older versions cut it.
alter table agents add column compaction text not null default 'none'
  constraint agents_compaction check (compaction in ('none', 'auto'));

-- Summaries of conversations: later replies are sent one in place of the messages up to its position, that one included,
-- on every path that goes through it. Nothing of what it covers is removed.
create table checkpoints (
  id                uuid primary key,
  session_id        uuid not null references sessions on delete cascade,
  position          integer not null, -- of the last message that it covers
  summary           text not null,
  model             text not null,    -- that made it
  prompt_tokens     integer not null,
  completion_tokens integer not null,
  usage_estimated   boolean not null,
  counted           jsonb not null default '{}', -- what the provider counted besides, as messages.facts has it
  created_at        timestamptz not null default clock_timestamp()
);
create index checkpoints_by_session on checkpoints (session_id, position);

-- A compaction that runs without a reply: {id, instance_id, epoch}. It holds the session as long as its instance has that
-- epoch, so that one whose instance was lost holds nothing. Null: none runs.
alter table sessions add column compaction jsonb;
