-- Addresses that are told how replies end, and what they are told.
create table webhooks (
  id              uuid primary key default gen_random_uuid(),
  num             bigint generated always as identity,
  name            text not null,
  url             text not null,
  events          text[] not null,
  agent_ids       uuid[],               -- null: all agents; empty: its agents were deleted, and it is told nothing
  enabled         boolean not null default true,
  secret          text not null,        -- sealed
  previous_secret text,                 -- sealed; signs beside the other until previous_until
  previous_until  timestamptz,
  created_at      timestamptz not null default clock_timestamp(),
  updated_at      timestamptz not null default clock_timestamp()
);

create function forget_agent_in_webhooks() returns trigger language plpgsql as $$
begin
  update webhooks set agent_ids = array_remove(agent_ids, old.id) where old.id = any (agent_ids);
  return null;
end $$;
create trigger forget_agent_in_webhooks after delete on agents for each row execute function forget_agent_in_webhooks();

-- One event for one webhook. No foreign key: the deletion of a webhook must not fail the settlement that has just read it.
create table webhook_deliveries (
  id              uuid primary key default gen_random_uuid(),
  num             bigint generated always as identity,
  webhook_id      uuid not null,
  type            text not null,
  session_id      uuid not null,
  message_id      uuid,                 -- null: the event is about a session
  body            text not null,        -- as it is sent, each time
  status          text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts        integer not null default 0, -- begun ones; names the claim of an attempt
  failures        integer not null default 0, -- since it was recorded, or asked for again: how long the next attempt waits
  last_status     integer,              -- of the last answer; null: there was none
  last_error      text,
  next_attempt_at timestamptz default clock_timestamp(), -- while an attempt runs: when it is given up as lost; null: there is none
  created_at      timestamptz not null default clock_timestamp()
);
create index webhook_deliveries_newest on webhook_deliveries (webhook_id, num desc);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where status = 'pending';
create index webhook_deliveries_by_time on webhook_deliveries (created_at);
