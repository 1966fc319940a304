-- revision 3
/* Returns the numbers of an agent's versions that a stored reply, a pin or a replay names. */
create or replace function named_versions(p_agent uuid) returns setof integer language sql stable as $$
  select s.agent_version from sessions s where s.agent_id = p_agent and s.agent_version is not null
   union
  select r.version::integer from replays r where r.agent_id = p_agent and r.version <> 'draft'
   union
  select (m.facts ->> 'agentVersion')::integer
    from sessions s join messages m on m.session_id = s.id
   where s.agent_id = p_agent and jsonb_typeof(m.facts -> 'agentVersion') = 'number'
$$;
