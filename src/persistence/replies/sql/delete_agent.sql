-- revision 1
/* Removes an agent and its sessions. The agent is locked first, so that no session is made meanwhile. */
create or replace function delete_agent(p_agent uuid) returns boolean language plpgsql as $$
begin
  perform 1 from agents a where a.id = p_agent for update;
  if not found then return false; end if;
  perform delete_session(p_agent, s.id) from (select x.id from sessions x where x.agent_id = p_agent order by x.num) s;
  delete from agents a where a.id = p_agent;
  return true;
end $$;
