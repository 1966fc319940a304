-- revision 1
/* Removes a session with all that belongs to it; tells the owner of its running reply. False: no such session. */
create or replace function delete_session(p_agent uuid, p_session uuid) returns boolean language plpgsql as $$
declare
  v_num bigint;
begin
  select s.num into v_num from sessions s where s.id = p_session and s.agent_id = p_agent for update;
  if not found then return false; end if;
  insert into intents (instance_id, kind, session_id, reply_id)
  select m.instance_id, 'delete', p_session, m.id from messages m
   where m.session_id = p_session and m.status = 'streaming';
  delete from sessions s where s.id = p_session;
  delete from frames f where f.session_num = v_num;
  return true;
end $$;
