-- revision 2
/* Removes an agent and its sessions. The agent is locked first, so that no session is made meanwhile. */
create or replace function delete_agent(p_agent uuid) returns boolean language plpgsql as $$
begin
  perform 1 from agents a where a.id = p_agent for update;
  if not found then return false; end if;
  perform delete_sessions(p_agent, array(select s.id from sessions s where s.agent_id = p_agent));
  delete from agents a where a.id = p_agent;
  return true;
end $$;
