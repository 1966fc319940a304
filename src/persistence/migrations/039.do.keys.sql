-- Named keys of the deploy and management APIs. The key itself is nowhere.
create table keys (
  id           uuid primary key default gen_random_uuid(),
  num          bigint generated always as identity,
  name         text not null,
  hint         text not null,         -- its last four characters
  hash         bytea not null unique, -- SHA-256
  scopes       text[] not null,
  agent_ids    uuid[],                -- null: all agents; empty: its agents were deleted, and it opens nothing
  expires_at   timestamptz,           -- null: never
  last_used_at timestamptz,
  created_by   text,                  -- a login's name; null where no login was required
  created_at   timestamptz not null default clock_timestamp(),
  updated_at   timestamptz not null default clock_timestamp()
);

-- Raised with each change of a key but its use: instances poll it.
create table key_changes (version bigint not null);
insert into key_changes values (0);

create function raise_key_changes() returns trigger language plpgsql as $$
begin
  update key_changes set version = version + 1;
  return null;
end $$;
create trigger raise_key_changes
  after insert or delete or update of name, agent_ids, expires_at on keys
  for each statement execute function raise_key_changes();

create function forget_agent_in_keys() returns trigger language plpgsql as $$
begin
  update keys set agent_ids = array_remove(agent_ids, old.id) where old.id = any (agent_ids);
  return null;
end $$;
create trigger forget_agent_in_keys after delete on agents for each row execute function forget_agent_in_keys();
