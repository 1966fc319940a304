-- Agents that an agent may ask, as its tools.
create table agent_agent_tools (
  agent_id        uuid not null references agents on delete cascade,
  called_agent_id uuid not null references agents on delete cascade,
  name            text, -- null: the called agent's
  description     text, -- null: made from its name
  place           integer not null,
  primary key (agent_id, called_agent_id)
);
create index agent_agent_tools_by_called on agent_agent_tools (called_agent_id);
create constraint trigger make_version after insert or update or delete on agent_agent_tools
  deferrable initially deferred for each row execute function version_agent_of_part();
create constraint trigger raise_configuration after insert or update or delete on agent_agent_tools
  deferrable initially deferred for each row execute function raise_configuration();
