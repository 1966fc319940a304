-- revision 3
/* Returns the bytes of all sessions of an agent's user. Null without a user, so that nothing is above a limit of users.
   */
create or replace function user_bytes(p_agent uuid, p_user text) returns bigint stable strict language sql as $$
  select coalesce(sum(case when s.bytes is not null then s.bytes else session_bytes(s.id) end), 0)::bigint
    from sessions s where s.agent_id = p_agent and s.end_user = p_user
$$;
