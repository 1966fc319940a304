-- revision 2
/* Removes a session with all that belongs to it; tells the owner of its running reply. False: no such session. */
create or replace function delete_session(p_agent uuid, p_session uuid) returns boolean language plpgsql as $$
declare
  v_num bigint;
  v_contents bytea[];
begin
  select s.num into v_num from sessions s where s.id = p_session and s.agent_id = p_agent for update;
  if not found then return false; end if;
  insert into intents (instance_id, kind, session_id, reply_id)
  select m.instance_id, 'delete', p_session, m.id from messages m
   where m.session_id = p_session and m.status = 'streaming';
  with gone as (delete from message_parts p where p.session_id = p_session returning p.sha256)
  select array_agg(distinct g.sha256) into v_contents from gone g;
  delete from sessions s where s.id = p_session;
  delete from frames f where f.session_num = v_num;
  if v_contents is not null then perform forget_parts(v_contents); end if;
  return true;
end $$;
