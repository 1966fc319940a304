-- revision 1
/* Returns whether the sessions and files of an agent's user would hold more than p_most bytes with a message of p_added bytes and
   these parts (as admit_message takes them; null: none). As user_full, but bytes that the message shares with the user's files
   count once. */
create or replace function message_full(p_agent uuid, p_user text, p_added bigint, p_most bigint, p_parts jsonb)
returns boolean volatile language plpgsql as $$
declare
  v_shared bigint; -- what files count of the parts, which no message has yet
begin
  if not user_full(p_agent, p_user, p_added, p_most, true) then return false; end if;
  if p_parts is null then return true; end if;
  select coalesce(sum(f.size), 0) into v_shared
    from (select distinct decode(x.part ->> 'stored_as', 'hex') as stored_as from jsonb_array_elements(p_parts) x(part)) p
    join files f on f.stored_as = p.stored_as
   where f.agent_id = p_agent and f.end_user = p_user and (f.expires_at is null or f.expires_at > clock_timestamp())
     and not exists (select 1 from message_parts o join sessions s on s.id = o.session_id
                      where o.stored_as = f.stored_as and s.agent_id = p_agent and s.end_user = p_user);
  return user_bytes(p_agent, p_user) + p_added - v_shared > p_most;
end $$;
