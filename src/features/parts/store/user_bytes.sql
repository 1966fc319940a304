-- revision 4
/* Returns the bytes of all sessions and files of an agent's user. Those that a file shares with messages count once. Null
   without a user, so that nothing is above a limit of users. */
create or replace function user_bytes(p_agent uuid, p_user text) returns bigint stable strict language sql as $$
  select coalesce((select sum(case when s.bytes is not null then s.bytes else session_bytes(s.id) end)
                     from sessions s where s.agent_id = p_agent and s.end_user = p_user), 0)::bigint
       + coalesce((select sum(f.size) from files f
                    where f.agent_id = p_agent and f.end_user = p_user
                      and (f.expires_at is null or f.expires_at > clock_timestamp())
                      and not exists (select 1 from message_parts p join sessions s on s.id = p.session_id
                                       where p.stored_as = f.stored_as and s.agent_id = p_agent and s.end_user = p_user)),
                  0)::bigint
$$;
