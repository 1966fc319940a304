-- revision 1
/* Makes a version of what the replies of an agent depend on now, unless the live version holds the same. Returns the number of
   the live version. Null when there is no such agent. p_note: why. Its author is the transaction's setting greenroom.actor.
   The agent's row is locked, so that numbers have no gap, and that the snapshot holds what others have committed.
   Of the versions that nothing names the newest 200 stay. */
create or replace function make_agent_version(p_agent uuid, p_note text) returns integer language plpgsql as $$
declare
  s record; -- of agent_snapshot
  live record;
  v_number integer;
begin
  perform 1 from agents a where a.id = p_agent for no key update;
  if not found then return null; end if;
  select x.config, x.prompt, x.names into s from agent_snapshot(p_agent) x;
  select v.number, v.config, v.prompt into live
    from agent_versions v where v.agent_id = p_agent order by v.number desc limit 1;
  if live.number is not null and live.config::text = s.config::text and live.prompt is not distinct from s.prompt then
    return live.number;
  end if;
  v_number := coalesce(live.number, 0) + 1;
  insert into agent_versions (agent_id, number, created_by, note, config, prompt, names)
  values (p_agent, v_number, nullif(current_setting('greenroom.actor', true), ''), p_note, s.config, s.prompt, s.names);
  if (select count(*) > 201 from agent_versions v where v.agent_id = p_agent) then
    delete from agent_versions v
     where v.agent_id = p_agent and v.number in (
       select x.number from agent_versions x
        where x.agent_id = p_agent and x.number < v_number and x.number not in (select * from named_versions(p_agent))
        order by x.number desc offset 200);
  end if;
  return v_number;
end $$;
