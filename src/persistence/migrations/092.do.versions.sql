-- What the replies of an agent depend on, as numbered versions that never change. The live one is that of the highest number.
create table agent_versions (
  agent_id   uuid not null references agents on delete cascade,
  number     integer not null, -- from 1 for each agent, without gaps
  created_at timestamptz not null default clock_timestamp(),
  created_by text, -- login or key
  note       text,
  config     json not null, -- of agent_snapshot; not jsonb, which would forget the order of a schema's properties
  prompt     text, -- text of the agent's prompt
  names      jsonb not null, -- names that the records had then, see agent_snapshot
  primary key (agent_id, number)
);

-- A prompt text of the agent's own, instead of a prompt.
alter table agents add column system_prompt text;

-- Changes that only the requests see that ask for the draft.
create table agent_drafts (
  agent_id  uuid primary key references agents on delete cascade,
  prompt_id uuid constraint agent_drafts_prompt references prompts,
  changes   json not null -- {agent, tools, named}: fields that differ from the live version
);
create index agent_drafts_by_prompt on agent_drafts (prompt_id);
create table agent_draft_providers (
  agent_id    uuid not null references agent_drafts on delete cascade,
  provider_id uuid not null constraint agent_draft_providers_provider references providers,
  primary key (agent_id, provider_id)
);
create index agent_draft_providers_by_provider on agent_draft_providers (provider_id);

-- Versions are made at the commit of whatever changes an agent, by an older version of the product too. The names of the
-- triggers come before raise_configuration: rows of agents are locked before that of `configuration`, in every transaction.
create function version_agent() returns trigger language plpgsql as $$
begin
  perform make_agent_version(new.id, null);
  return null;
end $$;
create function version_agent_of_part() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then perform make_agent_version(old.agent_id, null);
  else perform make_agent_version(new.agent_id, null); end if;
  return null;
end $$;
create function version_agents_of_prompt() returns trigger language plpgsql as $$
begin
  perform make_agent_version(a.id, null) from (select id from agents where prompt_id = new.id order by id) a;
  return null;
end $$;
create constraint trigger make_version after insert or update on agents
  deferrable initially deferred for each row execute function version_agent();
create constraint trigger make_version after insert or update or delete on agent_http_tools
  deferrable initially deferred for each row execute function version_agent_of_part();
create constraint trigger make_version after insert or update or delete on agent_mcp_servers
  deferrable initially deferred for each row execute function version_agent_of_part();
create constraint trigger make_version after insert or update or delete on agent_fallbacks
  deferrable initially deferred for each row execute function version_agent_of_part();
create constraint trigger make_version after update on prompts
  deferrable initially deferred for each row when (new.content is distinct from old.content)
  execute function version_agents_of_prompt();

-- An older version of the product knows no text of the agent's own: where it chooses a prompt, that prompt is meant.
create function forget_own_prompt() returns trigger language plpgsql as $$
begin
  if new.prompt_id is not null and new.prompt_id is distinct from old.prompt_id then new.system_prompt := null; end if;
  return new;
end $$;
create trigger forget_own_prompt before update on agents for each row execute function forget_own_prompt();
