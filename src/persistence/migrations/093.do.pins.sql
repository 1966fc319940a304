-- The version of its agent that a session's replies use. Null: the live one.
alter table sessions add column agent_version integer check (agent_version > 0);
create index sessions_by_pin on sessions (agent_id, agent_version) where agent_version is not null;
