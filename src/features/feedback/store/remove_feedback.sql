-- revision 1
/* Removes what somebody thinks of a reply. p_name: of a login; a user's is the session's. Returns no_session, no_message or
   removed, also where there was none. */
create or replace function remove_feedback(p_agent uuid, p_session uuid, p_message uuid, p_by text, p_name text)
returns text language plpgsql as $$
declare
  s record;
  v_comment text;
begin
  select x.id, x.end_user into s from sessions x where x.id = p_session and x.agent_id = p_agent for no key update;
  if not found then return 'no_session'; end if;
  perform from messages m where m.id = p_message and m.session_id = s.id;
  if not found then return 'no_message'; end if;
  delete from feedback x
   where x.message_id = p_message and x.given_by = p_by
     and x.name = coalesce(case when p_by = 'user' then s.end_user else p_name end, '')
  returning x.comment into v_comment;
  if v_comment is not null then update sessions x set bytes = x.bytes - octet_length(v_comment) where x.id = s.id; end if;
  return 'removed';
end $$;
