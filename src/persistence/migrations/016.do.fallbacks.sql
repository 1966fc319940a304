-- Other models that an agent's replies may come from, and the form that they have. Older versions run beside: they know
-- neither, and leave both alone.
alter table agents
  add column response_format json; -- not jsonb, which would forget the order of a schema's properties

create table agent_fallbacks (
  agent_id    uuid not null references agents on delete cascade,
  place       smallint not null, -- 0, 1, 2: the order in which they are asked
  provider_id uuid not null constraint agent_fallbacks_provider references providers,
  model       text not null,
  primary key (agent_id, place)
);
create index agent_fallbacks_by_provider on agent_fallbacks (provider_id);

create constraint trigger raise_configuration after insert or update or delete on agent_fallbacks
  deferrable initially deferred for each row execute function raise_configuration();
